//! Draws the pictures in `tests/photos`: scenes of noise and light with the statistics of photographs (much fine texture,
//! soft gradients, hard edges, a little grain), so that sizes and timings mean something and nobody's rights are touched.
//!
//! Writes PPM, PGM and PNG files into the folder given as the only argument; `tests/photos/README.md` says how they became JPEGs.
#![expect(clippy::print_stderr, reason = "a drawing tool")]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Red, green and blue in linear light, 0 to 1.
type Light = [f32; 3];
/// What a scene shows at a point; x goes from 0 to the aspect ratio, y from 0 (top) to 1.
type Scene = fn(f32, f32) -> Light;

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: draw_photos FOLDER");
        return Ok(());
    };
    let folder = Path::new(&folder);
    let scenes: [(&str, usize, usize, Scene); 5] = [
        ("lake", 1600, 1067, lake),
        ("dunes", 1200, 800, dunes),
        ("birches", 1067, 1600, birches),
        ("granite", 1400, 933, granite),
        ("town", 1500, 1000, town),
    ];
    for (name, width, height, scene) in scenes {
        let gray = name == "granite";
        let pixels = expose(width, height, scene, gray);
        let (kind, ending) = if gray { ("P5", "pgm") } else { ("P6", "ppm") };
        let mut file = BufWriter::new(File::create(folder.join(format!("{name}.{ending}")))?);
        write!(file, "{kind}\n{width} {height}\n255\n")?;
        file.write_all(&pixels)?;
    }
    write_leaf(&folder.join("leaf.png"))
}

/// Eight-bit sRGB with a little grain, three bytes a pixel or one.
fn expose(width: usize, height: usize, scene: Scene, gray: bool) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(width * height * 3);
    for row in 0..height {
        for column in 0..width {
            let (x, y) = (column as f32 / height as f32, row as f32 / height as f32);
            let grain = (random(column as i32, row as i32, 77) - 0.5) * 0.012;
            let light = scene(x, y).map(|channel| to_byte(channel, grain));
            if gray {
                pixels.push(light[1]);
            } else {
                pixels.extend_from_slice(&light);
            }
        }
    }
    pixels
}

fn to_byte(light: f32, grain: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let encoded = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    ((encoded + grain) * 255.0 + 0.5).clamp(0.0, 255.0) as u8
}

/// A number from 0 to 1 that looks random and is always the same at the same place.
fn random(x: i32, y: i32, seed: u32) -> f32 {
    let mut hash = (x as u32).wrapping_mul(0x8da6_b343)
        ^ (y as u32).wrapping_mul(0xd816_3841)
        ^ seed.wrapping_mul(0xcb1a_b31f);
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    hash = (hash ^ (hash >> 12)).wrapping_mul(0x297a_2d39);
    (hash ^ (hash >> 15)) as f32 / u32::MAX as f32
}

/// Smooth noise around 0.5 with features of size 1.
fn noise(x: f32, y: f32, seed: u32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let (u, v) = (smooth(x - left), smooth(y - top));
    let at = |dx, dy| random(left as i32 + dx, top as i32 + dy, seed);
    mix(mix(at(0, 0), at(1, 0), u), mix(at(0, 1), at(1, 1), u), v)
}

/// Noise of several sizes, each half as big and half as strong as the one before.
fn fractal(x: f32, y: f32, octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut weight, mut scale) = (0.0, 0.5, 1.0);
    for octave in 0..octaves {
        sum += weight * noise(x * scale, y * scale, seed + octave);
        (weight, scale) = (weight * 0.5, scale * 2.03);
    }
    sum
}

fn mix(a: f32, b: f32, share: f32) -> f32 {
    a + (b - a) * share
}

fn blend(a: Light, b: Light, share: f32) -> Light {
    let share = share.clamp(0.0, 1.0);
    [0, 1, 2].map(|n| mix(a[n], b[n], share))
}

fn scale(light: Light, factor: f32) -> Light {
    light.map(|channel| channel * factor)
}

/// 0 below `from`, 1 above `to`, smooth between.
fn step(from: f32, to: f32, at: f32) -> f32 {
    let t = ((at - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn sky(x: f32, y: f32) -> Light {
    let base = blend([0.10, 0.22, 0.55], [0.95, 0.62, 0.42], y * 1.9);
    let cloud = fractal(
        x * 2.4 + 3.0,
        y * 7.0 + fractal(x * 3.0, y * 3.0, 4, 5),
        8,
        11,
    );
    let lit = blend(
        [0.95, 0.80, 0.72],
        [0.36, 0.34, 0.44],
        step(0.55, 0.8, cloud),
    );
    blend(base, lit, step(0.45, 0.75, cloud))
}

/// Mountains in the evening above a lake that mirrors them.
fn lake(x: f32, y: f32) -> Light {
    let shore = 0.62;
    if y < shore {
        return mountains(x, y);
    }
    let depth = y - shore;
    let wave = fractal(x * 6.0, depth * 90.0 / (0.15 + depth), 6, 31) - 0.5;
    let mirrored = mountains(
        x + wave * 0.03,
        shore - depth * 0.9 + wave * (0.02 + depth * 0.2),
    );
    let glitter = step(
        0.66,
        0.8,
        fractal(x * 30.0, depth * 400.0 / (0.2 + depth), 4, 37),
    ) * 0.25;
    let water = blend(mirrored, [0.02, 0.06, 0.09], 0.25 + depth * 0.8);
    let pebbles = scale(
        [0.30, 0.27, 0.23],
        0.2 + 1.3 * fractal(x * 60.0, y * 90.0, 6, 41),
    );
    let beach = step(0.93, 0.95, y + 0.05 * fractal(x * 5.0, 1.0, 5, 43));
    blend(water.map(|channel| channel + glitter), pebbles, beach)
}

fn mountains(x: f32, y: f32) -> Light {
    let mut light = sky(x, y);
    for ridge in 0..4u32 {
        let far = ridge as f32;
        let top = 0.22
            + 0.1 * far
            + 0.26 * (fractal(x * (1.3 + far * 0.7) + far * 9.1, far, 9, 60 + ridge) - 0.5);
        let rock = fractal(x * 14.0 + far, y * 22.0, 8, 70 + ridge);
        let slope = fractal(x * 40.0 + 0.4, y * 40.0, 5, 80) - fractal(x * 40.0, y * 40.0, 5, 80);
        let snow = step(0.52, 0.6, rock + (top + 0.06 - y) * 4.0 - far * 0.3);
        let forest = scale(
            [0.05, 0.11, 0.05],
            0.3 + 1.6 * fractal(x * 90.0, y * 60.0, 5, 90 + ridge),
        );
        let stone = scale(
            blend([0.26, 0.22, 0.24], [0.8, 0.82, 0.9], snow),
            0.5 + rock + 3.0 * slope,
        );
        let ground = blend(
            stone,
            forest,
            step(top + 0.05, top + 0.2, y + 0.1 * rock) * far / 2.0,
        );
        let hazy = blend(ground, [0.72, 0.55, 0.5], 0.5 - 0.16 * far);
        light = blend(light, hazy, step(top - 0.001, top + 0.001, y));
    }
    light
}

/// Ripples of sand in low light.
fn dunes(x: f32, y: f32) -> Light {
    let crest = 0.25 + 0.12 * (x * 2.2).sin() + 0.05 * fractal(x * 3.0, 0.0, 5, 3);
    if y < crest {
        return blend(
            [0.14, 0.32, 0.68],
            [0.80, 0.72, 0.62],
            y * 3.0 + 0.2 * fractal(x * 3.0, y * 9.0, 6, 8),
        );
    }
    let depth = (y - crest) / (1.0 - crest);
    let bend = fractal(x * 2.0, y * 3.0, 5, 17) * 5.0;
    let ripple = ((y * (70.0 - 45.0 * depth) + x * 9.0 + bend * 4.0).sin() * 0.5 + 0.5).powf(1.6);
    let shade = 0.35 + 0.55 * ripple + 0.25 * fractal(x * 4.0, y * 6.0, 5, 23);
    let sand = blend(
        [0.80, 0.46, 0.20],
        [0.42, 0.20, 0.13],
        step(0.4, 0.6, fractal(x * 1.3 + y, y * 1.7, 4, 29)),
    );
    let corn = 0.55 + 0.9 * fractal(x * 200.0, y * 200.0, 4, 34);
    scale(sand, shade * corn)
}

/// Trunks before leaves, upright.
fn birches(x: f32, y: f32) -> Light {
    let leaf = fractal(x * 26.0, y * 26.0, 7, 2);
    let gap = step(0.5, 0.72, fractal(x * 5.0, y * 4.0, 6, 4));
    let green = blend(
        [0.02, 0.05, 0.015],
        [0.42, 0.55, 0.10],
        step(0.3, 0.75, leaf),
    );
    let mut light = blend(green, [0.75, 0.82, 0.72], gap * leaf);
    for trunk in 0..7u32 {
        let place = 0.05 + 0.095 * trunk as f32 + 0.05 * random(trunk as i32, 0, 6);
        let radius = 0.012 + 0.022 * random(trunk as i32, 1, 6);
        let across = (x - place + 0.02 * (noise(y * 2.0, trunk as f32, 9) - 0.5)) / radius;
        let mark = step(
            0.55,
            0.62,
            fractal(x * 20.0 + trunk as f32, y * 120.0, 5, 13),
        );
        let bark = blend([0.72, 0.70, 0.66], [0.05, 0.045, 0.04], mark);
        let round = (1.0 - across * across).max(0.0).sqrt() * (0.75 + 0.25 * (across + 0.6));
        let lit = scale(
            bark,
            round * (0.6 + 0.6 * fractal(x * 150.0, y * 40.0, 4, 15)),
        );
        light = blend(light, lit, step(1.02, 0.97, across.abs()));
    }
    light
}

/// A polished stone, without colour.
fn granite(x: f32, y: f32) -> Light {
    let warp = fractal(x * 4.0, y * 4.0, 5, 1) * 1.5;
    let flake = fractal(x * 22.0 + warp, y * 22.0 - warp, 7, 3);
    let spark = step(0.72, 0.76, fractal(x * 120.0, y * 120.0, 3, 5));
    let crack = step(0.012, 0.0, (fractal(x * 2.0, y * 2.0, 7, 8) - 0.5).abs());
    let tone =
        0.03 + 0.7 * step(0.25, 0.75, flake) * (0.6 + 0.4 * fractal(x, y, 3, 9)) + 0.4 * spark;
    [tone * (1.0 - 0.85 * crack); 3]
}

/// Windows at night, seen across wet asphalt.
fn town(x: f32, y: f32) -> Light {
    let horizon = 0.68;
    if y < horizon {
        return street(x, y);
    }
    let depth = y - horizon;
    let rough = fractal(x * 30.0, depth * 60.0, 6, 51) - 0.5;
    let mirrored = street(x + rough * 0.05, horizon - depth * 1.3 + rough * 0.12);
    let asphalt = scale(
        [0.05, 0.05, 0.06],
        0.4 + 1.4 * fractal(x * 180.0, y * 240.0, 5, 53),
    );
    blend(asphalt, scale(mirrored, 0.7), 0.65 - depth)
}

fn street(x: f32, y: f32) -> Light {
    let mut light = blend(
        [0.01, 0.015, 0.05],
        [0.16, 0.08, 0.09],
        y + 0.3 * fractal(x * 3.0, y * 5.0, 6, 55),
    );
    for row in 0..3u32 {
        let width = 0.11 + 0.03 * row as f32;
        let number = (x / width + row as f32 * 0.37).floor() as i32;
        let height = 0.05 + 0.12 * row as f32 + 0.35 * random(number, row as i32, 57);
        if y > height {
            light = facade(x, y, row, number);
        }
    }
    light
}

fn facade(x: f32, y: f32, row: u32, number: i32) -> Light {
    let size = 0.014 + 0.004 * row as f32;
    let (column, floor) = ((x / size).floor(), (y / (size * 1.5)).floor());
    let (u, v) = (x / size - column, y / (size * 1.5) - floor);
    let bricks = 0.5 + 0.9 * fractal(x * 130.0, y * 260.0, 4, 59 + row);
    let wall = scale([0.035, 0.03, 0.04], bricks * (1.0 + row as f32 * 0.4));
    let lamp = random(column as i32 + number * 31, floor as i32, 61 + row);
    if !(0.2..0.8).contains(&u) || !(0.2..0.85).contains(&v) || lamp < 0.45 {
        return wall;
    }
    let warm = blend(
        [0.95, 0.62, 0.22],
        [0.75, 0.82, 0.95],
        step(0.8, 0.95, lamp),
    );
    scale(
        warm,
        (0.25 + lamp) * (0.5 + 0.7 * noise(x * 300.0, y * 200.0, 67)),
    )
}

/// A leaf with a soft edge and a shadow on nothing, 512 pixels square.
fn write_leaf(path: &Path) -> io::Result<()> {
    const SIZE: usize = 512;
    let mut encoder = png::Encoder::new(
        BufWriter::new(File::create(path)?),
        SIZE as u32,
        SIZE as u32,
    );
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    let pixels: Vec<u8> = (0..SIZE * SIZE)
        .flat_map(|n| {
            leaf(
                (n % SIZE) as f32 / SIZE as f32,
                (n / SIZE) as f32 / SIZE as f32,
            )
        })
        .collect();
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(())
}

fn leaf(x: f32, y: f32) -> [u8; 4] {
    let outline = |x: f32, y: f32| {
        let along = (y - 0.08) / 0.84;
        let half = 0.36
            * (along.clamp(0.0, 1.0) * std::f32::consts::PI)
                .sin()
                .powf(0.8);
        half - (x - 0.5).abs() + 0.012 * (y * 90.0).sin()
    };
    let inside = step(-0.004, 0.004, outline(x, y));
    let shadow = step(-0.05, 0.08, outline(x - 0.02, y - 0.03)) * 0.5;
    let vein = step(0.006, 0.001, (x - 0.5).abs())
        + 0.7 * step(0.12, 0.03, ((y + (x - 0.5).abs() * 0.9) * 11.0).fract());
    let tone = 0.5 + 0.8 * (fractal(x * 9.0, y * 9.0, 5, 7) - 0.25);
    let green = blend(
        scale([0.16, 0.42, 0.06], tone),
        [0.62, 0.74, 0.30],
        vein * 0.6,
    );
    let alpha = inside + (1.0 - inside) * shadow;
    let [r, g, b] = scale(green, inside / alpha.max(0.001)).map(|channel| to_byte(channel, 0.0));
    [r, g, b, (alpha * 255.0 + 0.5) as u8]
}
