//! Blocks written lane by lane come back in raster order.

use super::*;

#[test]
fn blocks_come_back_in_raster_order_across_chunks_and_lanes() {
    let budget = Budget::new(1 << 24, 1 << 30);
    let (across, down, v) = (100, 20, 2);
    let mut plane = Plane::new(across, down, v, &budget).expect("fits");
    let value =
        |row: usize, col: usize, k: usize| ((row * 31 + col * 7 + k * 13) % 2047) as i16 - 1023;
    for mcu_row in 0..down / v {
        for lane in 0..v {
            let row = mcu_row * v + lane;
            let mut writer = plane.writer(lane);
            for col in 0..across {
                let fill = |out: &mut [u16; MAX_WORDS]| {
                    (1..=63)
                        .filter(|k| (k + col) % 3 == 0)
                        .fold(0, |n, k| n + put_word(&mut out[n..], k, value(row, col, k)))
                };
                writer
                    .block(value(row, col, 0), &budget, fill)
                    .expect("fits");
            }
        }
    }
    assert_eq!(plane.down(), down);
    for row in 0..down {
        let mut blocks = 0;
        for (col, (dc, words)) in plane.row(row).enumerate() {
            assert_eq!(dc, value(row, col, 0));
            let expected: Vec<_> = (1..=63)
                .filter(|k| (k + col) % 3 == 0)
                .map(|k| (k, value(row, col, k)))
                .collect();
            let moved = expected
                .iter()
                .map(|&(k, value)| (k, i32::from(value) * MOVED as i32));
            assert!(words.moved().eq(moved));
            assert_eq!(words.collect::<Vec<_>>(), expected);
            blocks += 1;
        }
        assert_eq!(blocks, across);
    }
}

proptest::proptest! {
    #[test]
    fn thinning_keeps_what_reaches_its_floor(
        values in proptest::collection::btree_map(1_usize..64, -2047_i16..=2047, 0..63),
        floors in proptest::collection::vec(1_u16..700, 64),
    ) {
        let mut room = [0; MAX_WORDS];
        let words = values.iter().fold(0, |at, (&k, &v)| at + put_word(&mut room[at..], k, v));
        let floors: [u16; 64] = std::array::from_fn(|k| floors[k]);
        let left = thin(&mut room, words, &floors);
        let kept: Vec<_> = Words::new(&room[..left]).collect();
        let reaches = |&(k, v): &(usize, i16)| v.unsigned_abs() >= floors[k];
        let expected: Vec<_> = values.into_iter().filter(reaches).collect();
        proptest::prop_assert_eq!(kept, expected);
    }
}
