//! An animated WebP (RFC 9649 section 2.7.1.1): the pixels of each frame are coded anew, and nothing else about it changes:
//! place, time, blending and disposal of every frame, loops and background are the bytes they were.

use super::corrupt;
use super::image::{self, Image, Lossy, Pieces};
use super::riff::{File, Piece, chunks};
use crate::{Budget, Error};
use std::borrow::Cow;

/// Bytes before a frame's own chunks: place, size, time, flags.
const HEAD: usize = 16;

/// An animation.
#[derive(Debug)]
pub(super) struct Animation<'a> {
    /// Width and height.
    pub(super) canvas: (u32, u32),
    /// Background and loops.
    pub(super) control: Piece<'a>,
    pub(super) frames: Vec<Frame<'a>>,
    /// Whether its pixels are new.
    pub(super) resized: bool,
    /// Whether frames stored without loss only stand for lossy ones, whose pixels are new.
    for_lossy: bool,
}

#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Place, size, time and flags.
    pub(super) head: &'a [u8],
    pub(super) image: Image<'a>,
    /// Chunks that nobody knows.
    pub(super) others: Vec<Piece<'a>>,
}

impl<'a> Animation<'a> {
    /// Finds the frames.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn find(file: &File<'a>) -> Result<Self, Error> {
        let control = file.pieces.iter().find(|piece| &piece.name == b"ANIM");
        let canvas = file
            .canvas
            .ok_or_else(|| corrupt("an animation without a canvas"))?;
        let mut frames = Vec::new();
        for piece in &file.pieces {
            if let (b"ANMF", Cow::Borrowed(payload)) = (&piece.name, &piece.payload) {
                frames.push(Frame::read(payload, canvas)?);
            }
        }
        if frames.is_empty() {
            return Err(corrupt("an animation without frames"));
        }
        Ok(Self {
            canvas,
            control: control
                .cloned()
                .ok_or_else(|| corrupt("an animation without its control chunk"))?,
            frames,
            resized: false,
            for_lossy: false,
        })
    }

    /// The same as one whose pixels were made of those of `original`.
    pub(super) fn in_place_of(self, original: &Animation<'_>) -> Self {
        Self {
            resized: true,
            for_lossy: !original.is_exact(),
            ..self
        }
    }

    /// Whether its frames can be coded with a loss only: what they stand for was not without.
    pub(super) fn stands_for_lossy(&self) -> bool {
        self.for_lossy
    }

    /// The picture of each frame.
    pub(super) fn images(&self) -> impl Iterator<Item = &Image<'a>> {
        self.frames.iter().map(|frame| &frame.image)
    }

    pub(super) fn alpha(&self) -> bool {
        self.frames.iter().any(|frame| frame.image.alpha)
    }

    /// Whether any of the frames in `pieces` has an alpha channel.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn any_alpha(pieces: &[Piece<'_>]) -> Result<bool, Error> {
        let frames = pieces.iter().filter(|piece| &piece.name == b"ANMF");
        for frame in frames {
            let own = frame.payload.get(HEAD..).unwrap_or_default();
            if Image::find(&chunks(own)?)?.alpha {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether every frame is stored without loss.
    pub(super) fn is_exact(&self) -> bool {
        !self.for_lossy && self.frames.iter().all(|frame| frame.image.exact)
    }

    /// Whether any frame is stored without loss.
    pub(super) fn has_exact(&self) -> bool {
        self.frames.iter().any(|frame| frame.image.exact)
    }

    /// The frames stored without loss coded anew without loss.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn exactly(&self, level: u8, budget: &Budget) -> Result<Pieces, Error> {
        self.coded(|image| {
            if !image.exact {
                return Ok(Vec::new());
            }
            let plain = image.plain(budget)?;
            let coded = image::exactly(&plain, level, budget)?;
            budget.free(plain.samples);
            Ok(coded)
        })
    }

    /// Every frame coded anew at a quality.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn lossily(
        &self,
        quality: f32,
        method: u8,
        budget: &Budget,
    ) -> Result<Pieces, Error> {
        self.coded(|image| {
            let quality = quality.min(image.own_quality());
            Lossy::of(image, budget)?.code(method, budget, |code| code(quality))
        })
    }

    /// All frames with new chunks; a frame that would not shrink (or got none) stays as it is.
    fn coded(
        &self,
        mut code: impl FnMut(&Image<'a>) -> Result<Pieces, Error>,
    ) -> Result<Pieces, Error> {
        let own = |piece: &Piece<'_>| Piece {
            name: piece.name,
            payload: Cow::Owned(piece.payload.to_vec()),
        };
        let mut all = vec![own(&self.control)];
        for frame in &self.frames {
            let coded = code(&frame.image)?;
            let bytes = |pieces: &[Piece<'_>]| pieces.iter().map(Piece::length).sum::<usize>();
            let shrunk = !coded.is_empty() && bytes(&coded) < bytes(&frame.image.pieces);
            let image = if shrunk {
                &coded[..]
            } else {
                &frame.image.pieces
            };
            all.push(frame.with(image)?);
        }
        Ok(all)
    }
}

impl<'a> Frame<'a> {
    fn read(payload: &'a [u8], canvas: (u32, u32)) -> Result<Self, Error> {
        let (head, rest) = payload
            .split_at_checked(HEAD)
            .ok_or_else(|| corrupt("a frame is cut off"))?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], 0]);
        let (left, top) = (2 * number(0), 2 * number(3));
        let size = (number(6) + 1, number(9) + 1);
        let pieces = chunks(rest)?;
        let image = Image::find(&pieces)?;
        if image.size != size || left + size.0 > canvas.0 || top + size.1 > canvas.1 {
            return Err(corrupt(
                "a frame has another size than it says, or stands outside the canvas",
            ));
        }
        let others = pieces
            .into_iter()
            .filter(|piece| !piece.is_image())
            .collect();
        Ok(Self {
            head,
            image,
            others,
        })
    }

    /// The frame's chunk with that picture.
    fn with(&self, image: &[Piece<'_>]) -> Result<Piece<'static>, Error> {
        let mut payload = self.head.to_vec();
        for piece in image.iter().chain(&self.others) {
            piece.write(&mut payload)?;
        }
        Ok(Piece {
            name: *b"ANMF",
            payload: Cow::Owned(payload),
        })
    }
}
