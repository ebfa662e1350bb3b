//! Two kinds of plot as inline SVG: bars and lines. Each has a title and a description for those who cannot see it, and
//! takes its colours from the page, so that it follows the dark mode. Pure.

use super::escape;
use std::fmt::Write;

const WIDTH: f64 = 720.0;

/// One bar: a length, the interval of its median, and the text beside it.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) text: String,
}

/// One line of points, in ascending x.
pub(super) struct Line {
    pub(super) name: String,
    /// Class in the page's style, which decides colour and dashes.
    pub(super) class: &'static str,
    pub(super) points: Vec<Point>,
}

/// A point and the interval of its median.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// How an axis is divided.
pub(super) enum Scale {
    Linear,
    Log,
}

/// An axis: its name, scale, and the text of a place on it.
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) scale: Scale,
    pub(super) show: fn(f64) -> String,
}

fn open(id: &str, height: f64, title: &str, description: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{0}</title><desc id=\"{id}-d\">{1}</desc>",
        escape(title),
        escape(description)
    )
}

/// Horizontal bars, one below the other.
pub(super) fn bars(id: &str, title: &str, bars: &[Bar]) -> String {
    const ROW: f64 = 28.0;
    const LEFT: f64 = 210.0;
    const RIGHT: f64 = 110.0;
    let widest = bars
        .iter()
        .map(|bar| bar.high.max(bar.value))
        .fold(0.0, f64::max);
    let scale = |value: f64| value / widest.max(1e-12) * (WIDTH - LEFT - RIGHT);
    let words: Vec<String> = bars
        .iter()
        .map(|bar| format!("{}: {}", bar.label, bar.text))
        .collect();
    let mut svg = open(id, ROW * bars.len() as f64 + 4.0, title, &words.join("; "));
    for (row, bar) in bars.iter().enumerate() {
        let y = row as f64 * ROW;
        let _ = write!(
            svg,
            "<g><title>{}</title><text x=\"0\" y=\"{:.1}\">{}</text>\
             <rect class=\"bar\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"16\"/>\
             <path class=\"whisker\" d=\"M{:.1} {:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            escape(&words[row]),
            y + 18.0,
            escape(&bar.label),
            y + 6.0,
            scale(bar.value).max(1.0),
            LEFT + scale(bar.low),
            y + 14.0,
            LEFT + scale(bar.high),
            LEFT + scale(bar.high.max(bar.value)) + 8.0,
            y + 18.0,
            escape(&bar.text)
        );
    }
    svg + "</svg></div>"
}

const TOP: f64 = 16.0;
const LEFT: f64 = 96.0;
const HEIGHT: f64 = 300.0;
const BOTTOM: f64 = HEIGHT - 46.0;
const RIGHT: f64 = WIDTH - 20.0;

/// Where values stand on an axis.
struct Place {
    log: bool,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Place {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for value in values {
            (least, most) = (least.min(value), most.max(value));
        }
        let log = matches!(axis.scale, Scale::Log);
        let most = most.max(1e-12);
        let (from, to) = if log {
            (
                10f64.powf(least.min(most).max(1e-9).log10().floor()),
                10f64.powf(most.log10().ceil()),
            )
        } else {
            (0.0, most * 1.05)
        };
        Self {
            log,
            from,
            to: if to > from { to } else { from * 10.0 },
            start,
            end,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from).log10() - self.from.log10())
                / (self.to.log10() - self.from.log10())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.start + share * (self.end - self.start)
    }

    /// Places worth a mark.
    fn marks(&self) -> Vec<f64> {
        if self.log {
            let (first, last) = (
                self.from.log10().round() as i32,
                self.to.log10().round() as i32,
            );
            return (first..=last).map(|power| 10f64.powi(power)).collect();
        }
        let rough = self.to / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|n| n * power)
            .into_iter()
            .find(|step| *step >= rough);
        let step = step.unwrap_or(rough).max(1e-12);
        (0..=(self.to / step) as u32)
            .map(|n| f64::from(n) * step)
            .collect()
    }
}

/// Lines in one frame, with a key.
pub(super) fn lines(id: &str, title: &str, x: &Axis, y: &Axis, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let across = Place::new(x, points().map(|point| point.x), LEFT, RIGHT);
    let up = Place::new(
        y,
        points().flat_map(|point| [point.y, point.low, point.high]),
        BOTTOM,
        TOP,
    );
    let words: Vec<String> = lines.iter().map(|line| described(line, x, y)).collect();
    let mut svg = open(id, HEIGHT, title, &words.join("; "));
    svg.push_str(&frame(x, y, &across, &up));
    for line in lines {
        svg.push_str(&curve(line, x, y, &across, &up));
    }
    let key = lines.iter().map(|line| {
        let (class, name) = (line.class, escape(&line.name));
        format!("<span><i class=\"{class}\"></i> {name}</span>")
    });
    format!(
        "<p class=\"key\">{}</p>{svg}</svg></div>",
        key.collect::<Vec<_>>().join(" ")
    )
}

fn described(line: &Line, x: &Axis, y: &Axis) -> String {
    let points = line
        .points
        .iter()
        .map(|point| format!("{} at {}", (y.show)(point.y), (x.show)(point.x)));
    format!("{}: {}", line.name, points.collect::<Vec<_>>().join(", "))
}

fn frame(x: &Axis, y: &Axis, across: &Place, up: &Place) -> String {
    let mut svg = String::new();
    for mark in up.marks() {
        let at = up.at(mark);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            escape(&(y.show)(mark))
        );
    }
    for mark in across.marks() {
        let at = across.at(mark);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/><text class=\"mid\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
            BOTTOM + 18.0,
            escape(&(x.show)(mark))
        );
    }
    let _ = write!(
        svg,
        "<text class=\"mid\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
         <text class=\"mid\" transform=\"translate(14 {:.1}) rotate(-90)\">{}</text>",
        f64::midpoint(LEFT, RIGHT),
        HEIGHT - 8.0,
        escape(x.name),
        f64::midpoint(TOP, BOTTOM),
        escape(y.name)
    );
    svg
}

fn curve(line: &Line, x: &Axis, y: &Axis, across: &Place, up: &Place) -> String {
    let class = line.class;
    let places: Vec<String> = line
        .points
        .iter()
        .map(|point| format!("{:.1},{:.1}", across.at(point.x), up.at(point.y)))
        .collect();
    let mut svg = format!(
        "<polyline class=\"{class}\" points=\"{}\"/>",
        places.join(" ")
    );
    for point in &line.points {
        let at = across.at(point.x);
        let _ = write!(
            svg,
            "<path class=\"whisker\" d=\"M{at:.1} {:.1}V{:.1}\"/>\
             <circle class=\"{class}\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}: {} at {}</title></circle>",
            up.at(point.low),
            up.at(point.high),
            up.at(point.y),
            escape(&line.name),
            escape(&(y.show)(point.y)),
            escape(&(x.show)(point.x))
        );
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis {
            name: "a",
            scale,
            show: |value| value.to_string(),
        }
    }

    #[test]
    fn values_stand_where_they_belong() {
        let linear = Place::new(&axis(Scale::Linear), [1.0, 10.0].into_iter(), 0.0, 105.0);
        assert!((linear.at(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(linear.marks()[..3], [0.0, 2.0, 4.0]);
        let log = Place::new(&axis(Scale::Log), [1e-5, 0.02].into_iter(), 400.0, 0.0);
        assert!((log.at(1e-5) - 400.0).abs() < 1e-6 && (log.at(0.1) - 0.0).abs() < 1e-6);
        assert_eq!(log.marks().len(), 5);
    }

    #[test]
    fn a_plot_without_points_is_still_one() {
        let axis = axis(Scale::Log);
        let svg = lines("x", "nothing", &axis, &axis, &[]);
        assert!(
            svg.contains("</svg>") && !svg.contains("NaN") && !svg.contains("inf"),
            "{svg}"
        );
        assert!(!bars("y", "nothing", &[]).contains("NaN"));
    }
}
