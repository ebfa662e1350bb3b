//! libwebp behind a narrow safe face: with `unsafe`, because the C library has no other door.
//!
//! It knows pixels and bitstreams, nothing of files, budgets or options. Every function checks the sizes it hands over, and
//! every pointer that C gets is used during that one call only, except the pixels a [`Picture`] borrows. Threads stay off
//! (`thread_level` and `use_threads` are 0 by default and never set). C allocates on its own; callers claim for it first.
#![expect(
    unsafe_code,
    reason = "libwebp is a C library; this file is its only fence"
)]

mod faults;

pub(super) use faults::Fault;

use libwebp_sys as sys;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

/// Longest side of a picture (VP8 has 14 bits for it).
pub(crate) const LONGEST: u32 = 16_383;

/// Luma and halved chroma as VP8 stores them (BT.601, limited range), and alpha.
#[derive(Debug)]
pub(super) struct Planes {
    pub(super) width: u32,
    pub(super) height: u32,
    /// `width` by `height`.
    pub(super) y: Vec<u8>,
    /// Half of each, rounded up.
    pub(super) u: Vec<u8>,
    /// Half of each, rounded up.
    pub(super) v: Vec<u8>,
    /// `width` by `height`.
    pub(super) alpha: Option<Vec<u8>>,
}

impl Planes {
    /// Samples of a chroma plane.
    pub(super) fn chroma(width: u32, height: u32) -> usize {
        width.div_ceil(2) as usize * height.div_ceil(2) as usize
    }

    /// Whether every plane has the size that width and height ask for.
    fn fits(&self) -> bool {
        let (luma, chroma) = (
            area(self.width, self.height),
            Self::chroma(self.width, self.height),
        );
        let alpha = self.alpha.as_ref().is_none_or(|alpha| alpha.len() == luma);
        small(self.width, self.height)
            && self.y.len() == luma
            && self.u.len() == chroma
            && self.v.len() == chroma
            && alpha
    }
}

fn area(width: u32, height: u32) -> usize {
    width as usize * height as usize
}

fn small(width: u32, height: u32) -> bool {
    (1..=LONGEST).contains(&width) && (1..=LONGEST).contains(&height)
}

/// Decodes a still WebP file (or its image chunks alone) into planes of its size, without changing colours.
///
/// # Errors
/// [`Fault`]; the planes' content means nothing afterwards.
pub(super) fn decode_planes(file: &[u8], planes: &mut Planes) -> Result<(), Fault> {
    if !planes.fits() {
        return Err(Fault::Misuse);
    }
    let (across, halved) = (planes.width as c_int, planes.width.div_ceil(2) as c_int);
    let alpha = planes.alpha.as_mut();
    let buffer = sys::WebPYUVABuffer {
        y: planes.y.as_mut_ptr(),
        u: planes.u.as_mut_ptr(),
        v: planes.v.as_mut_ptr(),
        y_stride: across,
        u_stride: halved,
        v_stride: halved,
        a_stride: across,
        y_size: planes.y.len(),
        u_size: planes.u.len(),
        v_size: planes.v.len(),
        a_size: alpha.as_ref().map_or(0, |alpha| alpha.len()),
        a: alpha.map_or(std::ptr::null_mut(), Vec::as_mut_ptr),
    };
    let mode = if buffer.a.is_null() {
        sys::WEBP_CSP_MODE::MODE_YUV
    } else {
        sys::WEBP_CSP_MODE::MODE_YUVA
    };
    let place = sys::WebPDecBuffer__bindgen_ty_1 { YUVA: buffer };
    decode(file, (planes.width, planes.height), mode, place)
}

/// Decodes a still WebP file into rows of RGB or RGBA (`channels` 3 or 4) without gaps.
///
/// # Errors
/// [`Fault`]; the content of `out` means nothing afterwards.
pub(super) fn decode_rgb(
    file: &[u8],
    (width, height): (u32, u32),
    channels: usize,
    out: &mut [u8],
) -> Result<(), Fault> {
    let mode = match channels {
        3 => sys::WEBP_CSP_MODE::MODE_RGB,
        4 => sys::WEBP_CSP_MODE::MODE_RGBA,
        _ => return Err(Fault::Misuse),
    };
    if !small(width, height) || out.len() != area(width, height) * channels {
        return Err(Fault::Misuse);
    }
    let buffer = sys::WebPRGBABuffer {
        rgba: out.as_mut_ptr(),
        stride: (width as usize * channels) as c_int,
        size: out.len(),
    };
    decode(
        file,
        (width, height),
        mode,
        sys::WebPDecBuffer__bindgen_ty_1 { RGBA: buffer },
    )
}

/// Decodes into memory of ours; the caller has checked that `place` holds a picture of `size` in that `mode`.
fn decode(
    file: &[u8],
    size: (u32, u32),
    mode: sys::WEBP_CSP_MODE,
    place: sys::WebPDecBuffer__bindgen_ty_1,
) -> Result<(), Fault> {
    let mut config = sys::WebPDecoderConfig::new().map_err(|()| Fault::Misuse)?;
    // SAFETY: pointer and length are those of one slice, `config.input` is valid for writes; both live through the call.
    let status = unsafe { sys::WebPGetFeatures(file.as_ptr(), file.len(), &raw mut config.input) };
    faults::of_decoding(status)?;
    if (config.input.width, config.input.height) != (size.0 as c_int, size.1 as c_int) {
        return Err(Fault::Damaged);
    }
    config.output.colorspace = mode;
    config.output.u = place;
    config.output.is_external_memory = 1;
    // SAFETY: the slice lives through the call; `place` points at planes of ours that live through it as well and are as
    // large as its sizes and strides say; libwebp checks them against the picture and never frees external memory.
    faults::of_decoding(unsafe { sys::WebPDecode(file.as_ptr(), file.len(), &raw mut config) })
}

/// How to code a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Coding {
    /// VP8; alpha exactly.
    Lossy {
        /// libwebp's own scale, 0 to 100.
        quality: f32,
        /// 0 (fastest) to 6 (smallest); 7 is 6 with the strength of the loop filter chosen by trying, at five times the time.
        method: u8,
    },
    /// VP8L, every sample of every pixel, also where nobody sees it.
    Exact {
        /// 0 (fastest) to 9 (smallest).
        level: u8,
    },
}

impl Coding {
    fn config(self) -> Result<sys::WebPConfig, Fault> {
        let mut config = sys::WebPConfig::new().map_err(|()| Fault::Misuse)?;
        match self {
            Self::Lossy { quality, method } => {
                config.quality = quality;
                config.method = method.min(6).into();
                config.autofilter = (method > 6).into();
            }
            Self::Exact { level } => {
                // SAFETY: `config` is initialised and valid for writes during the call.
                let done = unsafe { sys::WebPConfigLosslessPreset(&raw mut config, level.into()) };
                if done == 0 {
                    return Err(Fault::Misuse);
                }
                config.exact = 1;
            }
        }
        Ok(config)
    }
}

/// A picture ready to be coded, any number of times.
pub(super) struct Picture<'a> {
    raw: sys::WebPPicture,
    /// Pixels that `raw` points at, where it does not own them.
    pixels: PhantomData<&'a mut [u8]>,
}

impl<'a> Picture<'a> {
    fn new(width: u32, height: u32) -> Result<Self, Fault> {
        if !small(width, height) {
            return Err(Fault::TooLarge);
        }
        let mut raw = sys::WebPPicture::new().map_err(|()| Fault::Misuse)?;
        (raw.width, raw.height) = (width as c_int, height as c_int);
        Ok(Self {
            raw,
            pixels: PhantomData,
        })
    }

    /// For lossy coding, from planes that stay where they are; colours under alpha 0 may be changed in them.
    ///
    /// # Errors
    /// [`Fault::Misuse`], [`Fault::TooLarge`].
    pub(super) fn of_planes(planes: &'a mut Planes) -> Result<Self, Fault> {
        let mut picture = Self::new(planes.width, planes.height)?;
        if !planes.fits() {
            return Err(Fault::Misuse);
        }
        let raw = &mut picture.raw;
        raw.colorspace = sys::WebPEncCSP::WEBP_YUV420;
        (raw.y, raw.u, raw.v) = (
            planes.y.as_mut_ptr(),
            planes.u.as_mut_ptr(),
            planes.v.as_mut_ptr(),
        );
        (raw.y_stride, raw.uv_stride) = (planes.width as c_int, planes.width.div_ceil(2) as c_int);
        if let Some(alpha) = &mut planes.alpha {
            raw.colorspace = sys::WebPEncCSP::WEBP_YUV420A;
            (raw.a, raw.a_stride) = (alpha.as_mut_ptr(), planes.width as c_int);
        }
        Ok(picture)
    }

    /// From rows of RGB or RGBA (`channels` 3 or 4) without gaps, which are copied: as planes for lossy coding, as they are
    /// for exact coding.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn of_rgb(
        samples: &[u8],
        (width, height): (u32, u32),
        channels: usize,
        exact: bool,
    ) -> Result<Picture<'static>, Fault> {
        let mut picture = Picture::new(width, height)?;
        if !matches!(channels, 3 | 4) || samples.len() != area(width, height) * channels {
            return Err(Fault::Misuse);
        }
        picture.raw.use_argb = exact.into();
        let import = if channels == 3 {
            sys::WebPPictureImportRGB
        } else {
            sys::WebPPictureImportRGBA
        };
        // SAFETY: `raw` is initialised and has the picture's size; the samples are `height` rows of that stride, checked
        // above, and are only read during the call. What it allocates is freed by `Drop`.
        let done = unsafe {
            import(
                &raw mut picture.raw,
                samples.as_ptr(),
                (width as usize * channels) as c_int,
            )
        };
        if done == 0 {
            Err(Fault::Memory)
        } else {
            Ok(picture)
        }
    }

    /// Copies luma, both chroma planes and alpha out of a picture made by [`Picture::of_rgb`] for lossy coding; the places must
    /// have exactly their sizes, that of alpha may be empty. A picture without transparent pixels has an alpha of 255.
    ///
    /// # Errors
    /// [`Fault::Misuse`].
    pub(super) fn copy_planes(&self, into: [&mut [u8]; 4]) -> Result<(), Fault> {
        let raw = &self.raw;
        let (width, height) = (raw.width as usize, raw.height as usize);
        let (across, down) = (width.div_ceil(2), height.div_ceil(2));
        let [y, u, v, alpha] = into;
        if raw.use_argb != 0 || raw.y.is_null() {
            return Err(Fault::Misuse);
        }
        let chroma = raw.uv_stride;
        copy(raw.y, raw.y_stride, (width, height), y)?;
        copy(raw.u, chroma, (across, down), u)?;
        copy(raw.v, chroma, (across, down), v)?;
        if alpha.is_empty() {
            return Ok(());
        }
        if raw.a.is_null() {
            alpha.fill(u8::MAX);
            return Ok(());
        }
        copy(raw.a, raw.a_stride, (width, height), alpha)
    }

    /// Codes the picture as a WebP file into `out`, which is emptied first.
    ///
    /// # Errors
    /// [`Fault`]; the content of `out` means nothing afterwards.
    pub(super) fn encode(&mut self, coding: Coding, out: &mut Vec<u8>) -> Result<(), Fault> {
        let config = coding.config()?;
        out.clear();
        self.raw.writer = Some(append);
        self.raw.custom_ptr = std::ptr::from_mut(out).cast();
        // SAFETY: `config` is initialised, `raw` points at pixels that it owns or that this picture borrows mutably, and
        // `custom_ptr` at a vector that nobody else touches during the call, as `append` asks.
        let done = unsafe { sys::WebPEncode(&raw const config, &raw mut self.raw) };
        self.raw.custom_ptr = std::ptr::null_mut();
        if done != 0 {
            return Ok(());
        }
        Err(faults::of_encoding(self.raw.error_code))
    }
}

impl Drop for Picture<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` was initialised; libwebp frees only what it allocated itself (`memory_`, `memory_argb_`).
        unsafe { sys::WebPPictureFree(&raw mut self.raw) }
    }
}

/// Copies the rows of a plane that libwebp allocated for a [`Picture`] that is still there.
fn copy(
    plane: *const u8,
    stride: c_int,
    (across, down): (usize, usize),
    to: &mut [u8],
) -> Result<(), Fault> {
    if across == 0 || to.len() != across * down || (stride as usize) < across {
        return Err(Fault::Misuse);
    }
    for (n, row) in to.chunks_exact_mut(across).enumerate() {
        // SAFETY: the plane has `down` rows of `stride` bytes, of which `across` are its samples, as libwebp allocated it for
        // the size of the picture; it lives as long as the picture, which the caller borrows.
        row.copy_from_slice(unsafe {
            std::slice::from_raw_parts(plane.add(n * stride as usize), across)
        });
    }
    Ok(())
}

/// Appends to the vector behind `custom_ptr`; 0 tells libwebp that there was no memory. Never unwinds into C.
unsafe extern "C" fn append(
    data: *const u8,
    size: usize,
    picture: *const sys::WebPPicture,
) -> c_int {
    if size == 0 {
        return 1;
    }
    // SAFETY: libwebp hands over its own picture and `size` readable bytes; `custom_ptr` is the vector that `encode` put
    // there and that is borrowed mutably for as long as the call runs.
    let (out, data) = unsafe {
        let vector: *mut c_void = (*picture).custom_ptr;
        (
            &mut *vector.cast::<Vec<u8>>(),
            std::slice::from_raw_parts(data, size),
        )
    };
    if out.try_reserve(size).is_err() {
        return 0;
    }
    out.extend_from_slice(data);
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_method_is_the_one_before_with_the_filter_tried() {
        let of = |method| {
            let config = Coding::Lossy {
                quality: 75.0,
                method,
            }
            .config();
            let config = config.expect("sound");
            (config.method, config.autofilter)
        };
        assert_eq!([0, 6, 7].map(of), [(0, 0), (6, 0), (6, 1)]);
    }
}
