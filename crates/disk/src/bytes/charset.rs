//! Encodings: converts between the bytes of a file and UTF-8. Names and rules are those of the
//! WHATWG, through `encoding_rs`.

use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use hashline_base::error::{Code, Error, Result};
use hashline_lines::lines::Unit;

/// The encoding of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, the default.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// Any other encoding of the WHATWG standard.
    Legacy(&'static Encoding),
}

/// Decoded bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'t> {
    /// As UTF-8; borrowed if the bytes are UTF-8 already.
    pub text: Cow<'t, [u8]>,
    /// Whether some bytes were invalid and became U+FFFD.
    pub is_lossy: bool,
}

impl Charset {
    /// The encoding of a WHATWG label, e.g. `windows-1252` or `shift_jis`, or of a name that Windows,
    /// Java or Python have for it, e.g. `cp932`.
    pub fn by_label(label: &str) -> Result<Charset> {
        let unsupported = |why: &str| {
            Error::new(
                Code::UnsupportedEncoding,
                format!(
                    "encoding {label:?} {why}: use a label of the WHATWG Encoding Standard, like \"windows-1252\""
                ),
            )
        };
        let encoding = labelled(label).ok_or_else(|| unsupported("is unknown"))?;
        Ok(match encoding {
            known if known == encoding_rs::UTF_8 => Charset::Utf8,
            known if known == encoding_rs::UTF_16LE => Charset::Utf16Le,
            known if known == encoding_rs::UTF_16BE => Charset::Utf16Be,
            known if known == encoding_rs::REPLACEMENT => {
                return Err(unsupported("is disabled by the standard"));
            }
            known => Charset::Legacy(known),
        })
    }

    /// The encoding that a byte order mark names, and the length of the mark.
    pub fn sniff(bytes: &[u8]) -> Option<(Charset, usize)> {
        let (encoding, bom_bytes) = Encoding::for_bom(bytes)?;
        let charset = match encoding {
            known if known == encoding_rs::UTF_8 => Charset::Utf8,
            known if known == encoding_rs::UTF_16LE => Charset::Utf16Le,
            _ => Charset::Utf16Be,
        };
        Some((charset, bom_bytes))
    }

    /// The name in lower case, e.g. `utf-8`.
    pub fn name(self) -> String {
        match self {
            Charset::Utf8 => "utf-8".to_owned(),
            Charset::Utf16Le => "utf-16le".to_owned(),
            Charset::Utf16Be => "utf-16be".to_owned(),
            Charset::Legacy(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }

    /// The name as the standard writes it, e.g. `Shift_JIS`.
    pub fn standard_name(self) -> &'static str {
        match self {
            Charset::Utf8 => encoding_rs::UTF_8.name(),
            Charset::Utf16Le => encoding_rs::UTF_16LE.name(),
            Charset::Utf16Be => encoding_rs::UTF_16BE.name(),
            Charset::Legacy(encoding) => encoding.name(),
        }
    }

    /// The unit of line terminators. In every encoding of the standard except UTF-16, the byte 0x0A
    /// is always a newline: it is not a trail byte in any of them.
    pub fn unit(self) -> Unit {
        match self {
            Charset::Utf16Le => Unit::Utf16Le,
            Charset::Utf16Be => Unit::Utf16Be,
            Charset::Utf8 | Charset::Legacy(_) => Unit::Byte,
        }
    }

    /// Whether a part of a file can be replaced regardless of the bytes before it. ISO-2022-JP has
    /// a shift state that persists across characters and lines.
    pub fn is_stateless(self) -> bool {
        self != Charset::Legacy(encoding_rs::ISO_2022_JP)
    }

    /// Whether the bytes of a character cannot be mistaken for those of another one, or for a part
    /// of them.
    pub fn is_self_synchronizing(self) -> bool {
        match self {
            Charset::Legacy(encoding) => encoding.is_single_byte(),
            Charset::Utf8 => true,
            Charset::Utf16Le | Charset::Utf16Be => false,
        }
    }

    /// The text of `bytes`.
    pub fn decode(self, bytes: &[u8]) -> Decoded<'_> {
        let encoding = match self {
            Charset::Utf8 => {
                // Several times as fast as the check of the standard library.
                return match simdutf8::basic::from_utf8(bytes) {
                    Ok(_) => Decoded { text: Cow::Borrowed(bytes), is_lossy: false },
                    Err(_) => {
                        let text = String::from_utf8_lossy(bytes).into_owned();
                        Decoded { text: Cow::Owned(text.into()), is_lossy: true }
                    }
                };
            }
            Charset::Utf16Le => encoding_rs::UTF_16LE,
            Charset::Utf16Be => encoding_rs::UTF_16BE,
            Charset::Legacy(encoding) => encoding,
        };
        let (text, is_lossy) = encoding.decode_without_bom_handling(bytes);
        Decoded { text: Cow::Owned(text.into_owned().into_bytes()), is_lossy }
    }

    /// A decoder for decoding a text character by character.
    pub(super) fn any_decoder(self) -> encoding_rs::Decoder {
        let utf8 = || encoding_rs::UTF_8.new_decoder_without_bom_handling();
        self.decoder().unwrap_or_else(utf8)
    }

    /// A decoder for decoding a text in pieces; `None` for UTF-8, which usually needs no decoding.
    pub(super) fn decoder(self) -> Option<encoding_rs::Decoder> {
        let encoding = match self {
            Charset::Utf8 => return None,
            Charset::Utf16Le => encoding_rs::UTF_16LE,
            Charset::Utf16Be => encoding_rs::UTF_16BE,
            Charset::Legacy(encoding) => encoding,
        };
        Some(encoding.new_decoder_without_bom_handling())
    }

    /// Encodes `text`. Fails with the first character that the encoding cannot represent.
    pub fn encode(self, text: &str) -> std::result::Result<Vec<u8>, char> {
        let mut out = Vec::new();
        self.encode_into(text, &mut out).map(|()| out)
    }

    /// Appends `text` in this encoding. Fails with the first character that the encoding cannot
    /// represent.
    pub fn encode_into(self, text: &str, out: &mut Vec<u8>) -> std::result::Result<(), char> {
        match self {
            Charset::Utf8 => out.extend_from_slice(text.as_bytes()),
            Charset::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Charset::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Charset::Legacy(encoding) => encode_legacy(encoding, text, out)?,
        }
        Ok(())
    }
}

/// Code pages of Windows whose numbers are not labels of the standard.
const CODE_PAGES: [(&str, &Encoding); 9] = [
    ("874", encoding_rs::WINDOWS_874),
    ("932", encoding_rs::SHIFT_JIS),
    ("936", encoding_rs::GBK),
    ("949", encoding_rs::EUC_KR),
    ("950", encoding_rs::BIG5),
    ("1200", encoding_rs::UTF_16LE),
    ("1201", encoding_rs::UTF_16BE),
    ("54936", encoding_rs::GB18030),
    ("65001", encoding_rs::UTF_8),
];

/// What code pages are called by Python, Java and Windows, and some encodings by ICU.
const CODE_PAGE_PREFIXES: [&str; 4] = ["cp", "ms", "windows-", "windows"];

/// Names in Python that differ from a label in more than `_` for `-`.
const PYTHON_NAMES: [(&str, &Encoding); 4] = [
    ("latin-1", encoding_rs::WINDOWS_1252),
    ("uhc", encoding_rs::EUC_KR),
    ("utf-16-le", encoding_rs::UTF_16LE),
    ("utf-16-be", encoding_rs::UTF_16BE),
];

/// The encoding of a label or of another usual name.
fn labelled(label: &str) -> Option<&'static Encoding> {
    let standard = |label: &str| Encoding::for_label(label.as_bytes());
    standard(label).or_else(|| {
        let name = label.trim().to_ascii_lowercase().replace('_', "-");
        let named = |names: &[(&str, &'static Encoding)], name: &str| {
            names.iter().find(|(known, _)| *known == name).map(|&(_, encoding)| encoding)
        };
        let mut numbers = CODE_PAGE_PREFIXES.iter().filter_map(|prefix| name.strip_prefix(prefix));
        standard(&name)
            .or_else(|| named(&PYTHON_NAMES, &name))
            .or_else(|| numbers.find_map(|number| named(&CODE_PAGES, number)))
    })
}

/// By its name.
impl Serialize for Charset {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Charset {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Charset, D::Error> {
        let label = String::deserialize(from)?;
        Charset::by_label(&label).map_err(|error| serde::de::Error::custom(&error.message))
    }
}

fn encode_legacy(
    encoding: &'static Encoding,
    text: &str,
    out: &mut Vec<u8>,
) -> std::result::Result<(), char> {
    let mut encoder = encoding.new_encoder();
    let bound = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
    out.reserve(bound.unwrap_or(text.len()));
    match encoder.encode_from_utf8_to_vec_without_replacement(text, out, true).0 {
        EncoderResult::InputEmpty => Ok(()),
        EncoderResult::Unmappable(character) => Err(character),
        EncoderResult::OutputFull => {
            unreachable!("the buffer has the bound that the encoder asks for")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        assert_eq!(Charset::by_label("UTF-16").unwrap(), Charset::Utf16Le);
        assert_eq!(Charset::by_label("latin1").unwrap().name(), "windows-1252");
        for label in ["klingon", "", "iso-2022-kr", "cp", "cp0", "932", "mscp932", "cp9321"] {
            assert_eq!(Charset::by_label(label).unwrap_err().code, Code::UnsupportedEncoding);
        }
    }

    #[test]
    fn regression_names_of_windows_java_and_python_are_labels() {
        for (label, name) in [
            ("cp932", "shift_jis"),
            ("MS932", "shift_jis"),
            ("windows-31j", "shift_jis"),
            ("windows_31j", "shift_jis"),
            ("windows-932", "shift_jis"),
            ("cp936", "gbk"),
            ("ms949", "euc-kr"),
            ("euc_kr", "euc-kr"),
            ("cp950", "big5"),
            ("cp1252", "windows-1252"),
            ("windows_1251", "windows-1251"),
            ("latin_1", "windows-1252"),
            (" Latin-1 ", "windows-1252"),
            ("iso8859_15", "iso-8859-15"),
            ("cp874", "windows-874"),
            ("cp866", "ibm866"),
            ("koi8_r", "koi8-r"),
            ("euc_jp", "euc-jp"),
            ("cp65001", "utf-8"),
            ("utf_8", "utf-8"),
            ("utf_16_le", "utf-16le"),
        ] {
            assert_eq!(Charset::by_label(label).map(Charset::name).as_deref(), Ok(name), "{label}");
        }
    }

    #[test]
    fn encoding_round_trips_or_returns_the_unencodable_character() {
        let text = "aé\r\nß";
        for label in ["utf-8", "utf-16le", "utf-16be", "windows-1252", "gb18030"] {
            let charset = Charset::by_label(label).unwrap();
            let bytes = charset.encode(text).unwrap();
            assert_eq!(
                charset.decode(&bytes),
                Decoded { text: Cow::Borrowed(text.as_bytes()), is_lossy: false },
                "{label}"
            );
        }
        assert_eq!(Charset::by_label("windows-1252").unwrap().encode("a変"), Err('変'));
    }

    /// [`Charset::unit`] relies on this. Checked for all encodings with several bytes for a
    /// character.
    #[test]
    fn a_newline_is_never_part_of_another_character() {
        let labels = [
            "big5",
            "euc-jp",
            "euc-kr",
            "gbk",
            "gb18030",
            "shift_jis",
            "ibm866",
            "koi8-r",
            "macintosh",
            "windows-1252",
            "windows-874",
            "x-mac-cyrillic",
            "x-user-defined",
        ];
        for label in labels {
            let charset = Charset::by_label(label).unwrap();
            for lead in 0..=255u8 {
                for second in [b'a', 0x30, 0x81, 0xFE] {
                    for third in [b'a', 0x30, 0x81, 0xFE] {
                        for bytes in [
                            &[lead, b'\n'][..],
                            &[lead, second, b'\n'],
                            &[lead, second, third, b'\n'],
                        ] {
                            let feeds = bytes.iter().filter(|&&byte| byte == b'\n').count();
                            let text = charset.decode(bytes).text;
                            let shown = text.iter().filter(|&&byte| byte == b'\n').count();
                            assert_eq!(shown, feeds, "{label} {bytes:02x?}");
                        }
                    }
                }
            }
        }
    }
}
