//! DQT and DHT segments.

use super::huffman::Code;
use super::markers::Markers;
use crate::Error;
use crate::jpeg::frame::QuantTable;

impl Markers<'_> {
    /// T.81 B.2.4.1.
    pub(super) fn quant_tables(&mut self) -> Result<(), Error> {
        const OF: &str = "a DQT segment";
        let mut left = self.length(OF)?;
        while left > 0 {
            let head = self.reader.u8(OF)?;
            let (wide, slot) = (head >> 4, usize::from(head & 15));
            let size = 1 + 64 * (1 + usize::from(wide));
            if wide > 1 || slot > 3 || size > left {
                return Err(self.wrong("an impossible DQT segment"));
            }
            let mut table = [0; 64];
            for step in &mut table {
                *step = match wide {
                    0 => u16::from(self.reader.u8(OF)?),
                    _ => self.reader.u16(OF)?,
                };
            }
            if table.contains(&0) {
                return Err(self.wrong("a quantisation step of 0"));
            }
            self.quant[slot] = Some(QuantTable(table));
            left -= size;
        }
        Ok(())
    }

    /// T.81 B.2.4.2.
    pub(super) fn huffman_tables(&mut self) -> Result<(), Error> {
        const OF: &str = "a DHT segment";
        let mut left = self.length(OF)?;
        while left > 0 {
            let head = self.reader.u8(OF)?;
            let (class, slot) = (head >> 4, usize::from(head & 15));
            let mut counts = [0; 16];
            self.reader.exact(&mut counts, OF)?;
            let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
            if class > 1 || slot > 3 || total > 256 || 17 + total > left {
                return Err(self.wrong("an impossible DHT segment"));
            }
            let mut symbols = vec![0; total];
            self.reader.exact(&mut symbols, OF)?;
            let code = Code::new(counts, symbols).map_err(|what| self.wrong(what))?;
            if class == 0 && code.symbols().iter().any(|&symbol| symbol > 15) {
                return Err(self.wrong("a DC code with symbols above 15"));
            }
            let codes = if class == 0 {
                &mut self.dc
            } else {
                &mut self.ac
            };
            codes[slot] = Some(code);
            left -= 17 + total;
        }
        Ok(())
    }
}
