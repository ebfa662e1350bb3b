//! libaom behind a narrow safe face: with `unsafe`, because the C library has no other door.
//!
//! It knows planes and bitstreams, nothing of files, budgets or options. Every function checks the sizes it hands over; what C
//! reads is borrowed for that one call, and what C owns is looked at only while its decoder lives. One thread: nothing here
//! asks for more. C allocates on its own; callers claim for it first.
#![expect(
    unsafe_code,
    reason = "libaom is a C library; this file is its only fence"
)]

mod faults;

pub(super) use faults::Fault;

use super::planes::{Planes, Sampling};
use libaom_sys as sys;
use std::ffi::{c_int, c_uint};
use std::ptr;

/// Longest side of a picture (AV1 has 16 bits for it).
pub(super) const LONGEST: u32 = 65_536;
/// Coarsest quantizer; 0 is the finest.
pub(super) const COARSEST: u8 = 63;

/// How to code a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coding {
    /// 0 (finest) to [`COARSEST`].
    pub(super) quantizer: u8,
    /// libaom's `cpu-used`: 0 (smallest) to 9 (fastest).
    pub(super) speed: u8,
    /// Every sample as it is; the quantizer then means nothing.
    pub(super) exact: bool,
    /// Primaries, transfer and matrix (ITU-T H.273), as they stand in the stream.
    pub(super) colours: [u8; 3],
}

/// libaom's state, initialised.
struct Context(Box<sys::aom_codec_ctx_t>);

impl Context {
    /// Runs one of libaom's two initialisers.
    fn open(
        init: impl FnOnce(*mut sys::aom_codec_ctx_t) -> sys::aom_codec_err_t,
    ) -> Result<Self, Fault> {
        // SAFETY: a structure of pointers and numbers, for which all zeros is "not initialised" to libaom.
        let mut context: Box<sys::aom_codec_ctx_t> = Box::new(unsafe { std::mem::zeroed() });
        // A failed start cleans up after itself, so there is nothing to destroy.
        faults::of(init(&raw mut *context))?;
        Ok(Self(context))
    }

    fn control(&mut self, id: c_uint, value: c_int) -> Result<(), Fault> {
        // SAFETY: the context is initialised, and each control used here takes one `int` (or `unsigned`, which is passed alike).
        faults::of(unsafe { sys::aom_codec_control(&raw mut *self.0, id as c_int, value) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was initialised and is destroyed once.
        unsafe { sys::aom_codec_destroy(&raw mut *self.0) };
    }
}

/// Codes one still picture into `out`, which is emptied first: a sequence header and a frame.
///
/// # Errors
/// [`Fault`]; the content of `out` means nothing afterwards.
pub(super) fn encode(planes: &Planes, coding: Coding, out: &mut Vec<u8>) -> Result<(), Fault> {
    if !planes.fits() || planes.width > LONGEST || planes.height > LONGEST {
        return Err(Fault::Misuse);
    }
    out.clear();
    let config = config(planes, coding)?;
    // SAFETY: the interface is a constant of the library.
    let interface = unsafe { sys::aom_codec_av1_cx() };
    let flags = if planes.bits > 8 {
        sys::AOM_CODEC_USE_HIGHBITDEPTH
    } else {
        0
    };
    let mut context = Context::open(|context| {
        // SAFETY: `context` is zeroed and valid for writes, `config` was filled by libaom for this interface; it is copied.
        unsafe {
            sys::aom_codec_enc_init_ver(
                context,
                interface,
                &raw const config,
                sys::aom_codec_flags_t::from(flags),
                sys::AOM_ENCODER_ABI_VERSION as c_int,
            )
        }
    })?;
    settle(&mut context, planes, coding)?;
    // Without chroma libaom still wants planes to point at; it reads one of middle gray for both.
    let gray = gray(planes)?;
    let image = image(planes, &gray)?;
    for picture in [&raw const image, ptr::null()] {
        // SAFETY: the context is an initialised encoder; the image points at planes that live through the call, each as large
        // as its size and strides say; no image means the end.
        faults::of(unsafe { sys::aom_codec_encode(&raw mut *context.0, picture, 0, 1, 0) })?;
        collect(&mut context, out)?;
    }
    if out.is_empty() {
        return Err(Fault::Misuse);
    }
    Ok(())
}

/// A still picture of one thread at a fixed quantizer.
fn config(planes: &Planes, coding: Coding) -> Result<sys::aom_codec_enc_cfg_t, Fault> {
    // SAFETY: numbers and arrays of numbers, and two buffers that are empty when zero.
    let mut config: sys::aom_codec_enc_cfg_t = unsafe { std::mem::zeroed() };
    // SAFETY: the interface is a constant of the library, `config` is valid for writes during the call.
    faults::of(unsafe {
        sys::aom_codec_enc_config_default(
            sys::aom_codec_av1_cx(),
            &raw mut config,
            sys::AOM_USAGE_ALL_INTRA,
        )
    })?;
    config.g_profile = match planes.sampling {
        Sampling::None | Sampling::Quarter => 0,
        Sampling::Full => 1,
        Sampling::Half => 2,
    };
    (config.g_w, config.g_h) = (planes.width, planes.height);
    (config.g_threads, config.g_limit, config.g_lag_in_frames) = (1, 1, 0);
    config.g_bit_depth = c_uint::from(planes.bits);
    config.g_input_bit_depth = c_uint::from(planes.bits);
    config.monochrome = u32::from(planes.sampling == Sampling::None);
    config.rc_end_usage = sys::AOM_Q;
    let quantizer = c_uint::from(if coding.exact { 0 } else { coding.quantizer });
    (config.rc_min_quantizer, config.rc_max_quantizer) = (quantizer, quantizer);
    Ok(config)
}

fn settle(context: &mut Context, planes: &Planes, coding: Coding) -> Result<(), Fault> {
    context.control(sys::AOME_SET_CPUUSED, coding.speed.into())?;
    context.control(sys::AV1E_SET_ROW_MT, 0)?;
    if coding.exact {
        context.control(sys::AV1E_SET_LOSSLESS, 1)?;
    } else {
        context.control(sys::AOME_SET_CQ_LEVEL, coding.quantizer.into())?;
        context.control(sys::AOME_SET_TUNING, sys::AOM_TUNE_SSIM as c_int)?;
    }
    let [primaries, transfer, matrix] = coding.colours;
    context.control(sys::AV1E_SET_COLOR_PRIMARIES, primaries.into())?;
    context.control(sys::AV1E_SET_TRANSFER_CHARACTERISTICS, transfer.into())?;
    let matrix = if planes.sampling == Sampling::None && matrix == 0 {
        sys::AOM_CICP_MC_UNSPECIFIED as c_int
    } else {
        matrix.into()
    };
    context.control(sys::AV1E_SET_MATRIX_COEFFICIENTS, matrix)?;
    context.control(sys::AV1E_SET_COLOR_RANGE, sys::AOM_CR_FULL_RANGE as c_int)
}

/// Middle gray for a picture without chroma, as large as halved chroma would be; nothing for others.
fn gray(planes: &Planes) -> Result<Vec<u8>, Fault> {
    if planes.sampling != Sampling::None {
        return Ok(Vec::new());
    }
    let middle = (1_u16 << (planes.bits - 1)).to_ne_bytes();
    let area = planes.width.div_ceil(2) as usize * planes.height.div_ceil(2) as usize;
    let one = if planes.bits > 8 { &middle[..] } else { &[128] };
    let mut gray = Vec::new();
    gray.try_reserve_exact(area * one.len())
        .map_err(|_| Fault::Memory)?;
    gray.resize(area * one.len(), one[0]);
    if let &[low, high] = one {
        gray.chunks_exact_mut(2)
            .for_each(|pair| pair.copy_from_slice(&[low, high]));
    }
    Ok(gray)
}

/// Describes the planes to libaom, which only reads them.
fn image(planes: &Planes, gray: &[u8]) -> Result<sys::aom_image_t, Fault> {
    let wide = planes.bits > 8;
    let format = match planes.sampling {
        Sampling::None | Sampling::Quarter => sys::AOM_IMG_FMT_I420,
        Sampling::Half => sys::AOM_IMG_FMT_I422,
        Sampling::Full => sys::AOM_IMG_FMT_I444,
    };
    let format = format
        | if wide {
            sys::AOM_IMG_FMT_HIGHBITDEPTH
        } else {
            0
        };
    // SAFETY: numbers and pointers that may be null.
    let mut image: sys::aom_image_t = unsafe { std::mem::zeroed() };
    let luma = planes.samples[0].as_ptr().cast_mut();
    // SAFETY: `image` is valid for writes; with data of the caller's nothing is allocated, and the pointers computed from it are
    // all replaced below.
    let wrapped =
        unsafe { sys::aom_img_wrap(&raw mut image, format, planes.width, planes.height, 1, luma) };
    if wrapped.is_null() {
        return Err(Fault::Misuse);
    }
    let unit = planes.unit() as c_int;
    let across = planes.chroma_size().0.max(1) as c_int;
    let halved = planes.width.div_ceil(2) as c_int;
    let (chroma, across) = if gray.is_empty() {
        ([&planes.samples[1][..], &planes.samples[2][..]], across)
    } else {
        ([gray, gray], halved)
    };
    image.planes = [
        luma,
        chroma[0].as_ptr().cast_mut(),
        chroma[1].as_ptr().cast_mut(),
    ];
    image.stride = [planes.width as c_int * unit, across * unit, across * unit];
    image.bit_depth = c_uint::from(planes.bits);
    image.monochrome = c_int::from(planes.sampling == Sampling::None);
    image.range = sys::AOM_CR_FULL_RANGE;
    Ok(image)
}

/// Takes what the encoder has ready.
fn collect(context: &mut Context, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut place: sys::aom_codec_iter_t = ptr::null();
    loop {
        // SAFETY: the context is an initialised encoder; a packet is valid until the next call on it, and is copied before that.
        let packet =
            unsafe { sys::aom_codec_get_cx_data(&raw mut *context.0, &raw mut place).as_ref() };
        let Some(packet) = packet else {
            return Ok(());
        };
        if packet.kind != sys::AOM_CODEC_CX_FRAME_PKT {
            continue;
        }
        // SAFETY: packets of this kind hold a frame: a buffer and its length, readable until the next call.
        let bytes = unsafe {
            let frame = packet.data.frame;
            std::slice::from_raw_parts(frame.buf.cast::<u8>(), frame.sz)
        };
        out.try_reserve(bytes.len()).map_err(|_| Fault::Memory)?;
        out.extend_from_slice(bytes);
    }
}

/// Width and height that a stream's sequence header announces, at most.
///
/// # Errors
/// [`Fault`].
pub(super) fn announced(stream: &[u8]) -> Result<(u32, u32), Fault> {
    // SAFETY: numbers.
    let mut info: sys::aom_codec_stream_info_t = unsafe { std::mem::zeroed() };
    // SAFETY: pointer and length are those of one slice, `info` is valid for writes.
    faults::of(unsafe {
        sys::aom_codec_peek_stream_info(
            sys::aom_codec_av1_dx(),
            stream.as_ptr(),
            stream.len(),
            &raw mut info,
        )
    })?;
    Ok((info.w, info.h))
}

/// A decoded picture, in libaom's memory.
pub(super) struct Decoded {
    /// Keeps alive what `image` points at.
    _context: Context,
    image: ptr::NonNull<sys::aom_image_t>,
    /// What it is.
    pub(super) shape: Shape,
}

/// What a decoded picture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Width and height in pixels.
    pub(super) size: (u32, u32),
    /// 8, 10 or 12.
    pub(super) bits: u8,
    /// Resolution of chroma.
    pub(super) sampling: Sampling,
    /// Primaries, transfer and matrix (ITU-T H.273).
    pub(super) colours: [u8; 3],
    /// Samples use the whole range.
    pub(super) full: bool,
    /// Two bytes a sample, whatever the bits.
    wide: bool,
}

impl Decoded {
    /// Decodes a stream of one picture.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn of(stream: &[u8]) -> Result<Self, Fault> {
        let config = sys::aom_codec_dec_cfg_t {
            threads: 1,
            w: 0,
            h: 0,
            allow_lowbitdepth: 1,
        };
        let mut context = Context::open(|context| {
            // SAFETY: `context` is zeroed and valid for writes; the configuration is copied.
            unsafe {
                sys::aom_codec_dec_init_ver(
                    context,
                    sys::aom_codec_av1_dx(),
                    &raw const config,
                    0,
                    sys::AOM_DECODER_ABI_VERSION as c_int,
                )
            }
        })?;
        // SAFETY: the context is an initialised decoder; pointer and length are those of one slice, which libaom only reads.
        faults::of(unsafe {
            sys::aom_codec_decode(
                &raw mut *context.0,
                stream.as_ptr(),
                stream.len(),
                ptr::null_mut(),
            )
        })?;
        let mut place: sys::aom_codec_iter_t = ptr::null();
        // SAFETY: the context is an initialised decoder; the image is its own and stays until the next call, of which there is
        // only the one that destroys it.
        let image = unsafe { sys::aom_codec_get_frame(&raw mut *context.0, &raw mut place) };
        let image = ptr::NonNull::new(image).ok_or(Fault::Damaged)?;
        // SAFETY: libaom filled it, and nobody writes to it while this borrow lives.
        let shape = Shape::of(unsafe { image.as_ref() })?;
        Ok(Self {
            _context: context,
            image,
            shape,
        })
    }

    /// Bytes of a sample in [`Self::row`].
    pub(super) fn unit(&self) -> usize {
        if self.shape.wide { 2 } else { 1 }
    }

    /// A row of a plane (0 luma, 1 and 2 chroma), in the machine's order.
    ///
    /// # Errors
    /// [`Fault::Misuse`] for a row or a plane that is not there.
    pub(super) fn row(&self, plane: usize, y: u32) -> Result<&[u8], Fault> {
        // SAFETY: the decoder that owns it lives as long as `self`.
        let image = unsafe { self.image.as_ref() };
        let (width, height) = self.shape.plane(plane);
        let bytes = width as usize * self.unit();
        let (Some(&start), Some(&stride)) = (image.planes.get(plane), image.stride.get(plane))
        else {
            return Err(Fault::Misuse);
        };
        if y >= height || start.is_null() || stride < 0 || (stride as usize) < bytes {
            return Err(Fault::Misuse);
        }
        // SAFETY: the plane has `height` rows of `stride` bytes, of which `bytes` are its samples, as libaom says of its own
        // picture; the decoder that owns them lives as long as `self`.
        Ok(unsafe { std::slice::from_raw_parts(start.add(y as usize * stride as usize), bytes) })
    }
}

impl Shape {
    fn of(image: &sys::aom_image_t) -> Result<Self, Fault> {
        let sampling = match (image.monochrome, image.x_chroma_shift, image.y_chroma_shift) {
            (0, 0, 0) => Sampling::Full,
            (0, 1, 0) => Sampling::Half,
            (0, 1, 1) => Sampling::Quarter,
            (0, _, _) => return Err(Fault::Unknown),
            (_, _, _) => Sampling::None,
        };
        let number = |value: c_uint| u8::try_from(value).map_err(|_| Fault::Unknown);
        Ok(Self {
            size: (image.d_w, image.d_h),
            bits: match image.bit_depth {
                8 => 8,
                10 => 10,
                12 => 12,
                _ => return Err(Fault::Unknown),
            },
            sampling,
            colours: [number(image.cp)?, number(image.tc)?, number(image.mc)?],
            full: image.range == sys::AOM_CR_FULL_RANGE,
            wide: image.fmt & sys::AOM_IMG_FMT_HIGHBITDEPTH != 0,
        })
    }

    /// Width and height of a plane.
    fn plane(&self, plane: usize) -> (u32, u32) {
        if plane == 0 {
            self.size
        } else {
            self.sampling.chroma(self.size)
        }
    }
}
