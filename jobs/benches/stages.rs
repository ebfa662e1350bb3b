//! The stages of the JPEG engine one by one, on one baseline photograph: decode, sample and predict, requantise, count, write.
//!
//! Uses a 12-megapixel photograph of `../shared/photos` where it is, else a small picture of the repository's own, and says so.

#![expect(clippy::print_stderr, reason = "a bench talks to whoever runs it")]

use criterion::{Criterion, criterion_group, criterion_main};
use pressroom_jobs::Budget;
use pressroom_jobs::jpeg::decode::{self, Survivors};
use pressroom_jobs::jpeg::encode::Picture;
use pressroom_jobs::jpeg::encode::markers::Form;
use pressroom_jobs::jpeg::encode::progressive::Statistics;
use pressroom_jobs::jpeg::prepare::Prepared;
use pressroom_jobs::jpeg::quant::plan::Plan;
use pressroom_jobs::jpeg::quant::quantiser::Rounding;
use pressroom_jobs::jpeg::quant::recipe::{Recipe, Weights};
use pressroom_jobs::jpeg::requantise::{Requantised, Shell};
use pressroom_jobs::jpeg::size_model::Sample;
use std::hint::black_box;
use std::path::Path;
use std::{fs, time::Duration};

/// Memory and pixels no picture here comes near.
const PLENTY: u64 = 1 << 32;
/// Scale of the tables: what a photograph needs to shrink to about a tenth.
const SCALE: f32 = 2.0;

fn picture() -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let photo = here.join("../../shared/photos/photo-13.jpg");
    fs::read(photo).unwrap_or_else(|_| {
        eprintln!("no photographs at ../shared/photos: using jobs/tests/photos/lake.jpg");
        fs::read(here.join("tests/photos/lake.jpg")).expect("the repository's own picture")
    })
}

fn decoded(bytes: &[u8], budget: &Budget) -> Prepared {
    let picture = decode::read(&bytes, budget, &Survivors::all()).expect("a sound picture");
    Prepared::whole(picture)
}

fn decoding(criterion: &mut Criterion) {
    let bytes = picture();
    criterion.bench_function("decode, everything kept", |bencher| {
        bencher.iter(|| decoded(&bytes, &Budget::new(PLENTY, PLENTY)));
    });
    let coarse = Survivors::from_floors([[3; 64]; 4]);
    criterion.bench_function("decode, small coefficients dropped", |bencher| {
        bencher.iter(|| {
            decode::read(&&bytes[..], &Budget::new(PLENTY, PLENTY), &coarse)
                .expect("a sound picture")
        });
    });
}

fn writing(criterion: &mut Criterion) {
    let (bytes, budget) = (picture(), Budget::new(PLENTY, PLENTY));
    let picture = decoded(&bytes, &budget);
    let segments = picture.segments();
    let views: Vec<_> = picture.views().into_iter().map(|view| vec![view]).collect();
    let whole = Picture {
        frame: &picture.frame,
        tables: &picture.tables,
        roles: &picture.roles,
        segments: &segments,
        views: &views,
    };
    for (name, form) in [
        ("sequential", Form::Sequential),
        ("progressive", Form::Progressive),
    ] {
        criterion.bench_function(&format!("count, {name}"), |bencher| {
            bencher.iter(|| whole.count(black_box(form)).expect("nothing to fail"));
        });
        let counted = whole.count(form).expect("nothing to fail");
        let mut out: Vec<u8> = Vec::new();
        criterion.bench_function(&format!("write, {name}"), |bencher| {
            bencher.iter(|| {
                out.clear();
                whole
                    .write(&counted, &mut out)
                    .expect("memory takes everything")
            });
        });
    }
}

fn requantising(criterion: &mut Criterion) {
    let (bytes, budget) = (picture(), Budget::new(PLENTY, PLENTY));
    let picture = decoded(&bytes, &budget);
    let (views, segments) = (picture.views(), picture.segments());
    let shell = Shell {
        frame: &picture.frame,
        segments: &segments,
    };
    criterion.bench_function("gather the sample", |bencher| {
        bencher.iter(|| Sample::gather(&views, &Budget::new(PLENTY, PLENTY)).expect("it fits"));
    });
    let sample = Sample::gather(&views, &budget).expect("it fits");
    let recipe = |rounding: Rounding| Recipe {
        rounding,
        weights: Weights::USUAL,
    };
    let nothing = vec![Statistics::default(); picture.roles.len()];
    let first = Plan::new(
        Form::Progressive,
        (Weights::USUAL, recipe(Rounding::Deadzone).tuning(SCALE)),
        &picture.roles,
        &picture.tables,
        &nothing,
    );
    let counts = sample.predict(&first).counts;
    for rounding in [Rounding::Deadzone, Rounding::Weighed] {
        let tuning = recipe(rounding).tuning(SCALE);
        let plan = Plan::new(
            Form::Progressive,
            (Weights::USUAL, tuning),
            &picture.roles,
            &picture.tables,
            &counts,
        );
        criterion.bench_function(&format!("predict, {rounding:?}"), |bencher| {
            bencher.iter(|| sample.predict(black_box(&plan)));
        });
        criterion.bench_function(&format!("requantise and count, {rounding:?}"), |bencher| {
            bencher.iter(|| {
                Requantised::new(&plan, shell, &views, &Budget::new(PLENTY, PLENTY))
                    .expect("it fits")
            });
        });
    }
}

criterion_group! {
    name = stages;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = decoding, writing, requantising
}
criterion_main!(stages);
