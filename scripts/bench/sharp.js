// node sharp.js MODE OUT ARGUMENT FILES... : what a user of sharp writes today, one thread, metadata kept.
//   quality N    one encode at quality N            mozjpeg-quality N   the same with mozjpeg:true
//   target BYTES highest quality that fits, found by halving 1..95      mozjpeg-target BYTES  the same with mozjpeg:true
//   resize WIDTH at most so wide, JPEG quality 80    webp N   one WebP at quality N
const fs = require('fs');
const path = require('path');
const sharp = require(process.env.SHARP || 'sharp');

sharp.concurrency(1);
sharp.cache(false);

const [mode, out, argument, ...files] = process.argv.slice(2);
const mozjpeg = mode.startsWith('mozjpeg');
const encode = (file, quality) => sharp(file).keepMetadata().jpeg({ quality, mozjpeg }).toBuffer();

const others = {
  resize: (file, width) => sharp(file).keepMetadata().resize({ width, withoutEnlargement: true }).jpeg({ quality: 80 }).toBuffer(),
  webp: (file, quality) => sharp(file).keepMetadata().webp({ quality }).toBuffer(),
};

async function highestThatFits(file, bytes) {
  let best = null;
  for (let low = 1, high = 95; low <= high;) {
    const quality = (low + high) >> 1;
    const result = await encode(file, quality);
    if (result.length <= bytes) {
      best = result;
      low = quality + 1;
    } else {
      high = quality - 1;
    }
  }
  return best;
}

(async () => {
  for (const file of files) {
    const other = others[mode] && others[mode](file, Number(argument));
    const work = other || (mode.endsWith('target') ? highestThatFits(file, Number(argument)) : encode(file, Number(argument)));
    const result = await work;
    if (result) fs.writeFileSync(path.join(out, path.basename(file)), result);
  }
})();
