//! A JSON array of records as JSON lines: `[{…}, {…}]`.

use std::io::{self, Read};

/// Turns an array of records into lines with one record each. Everything else passes through.
pub(crate) struct Array<R> {
    read: R,
    state: State,
    /// An error that follows bytes of the same read.
    error: Option<io::Error>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before the first byte that is not blank.
    Start,
    /// The text is no array.
    Other,
    /// Inside the array, inside this many brackets. A string may be open, and its next character
    /// may be escaped.
    Inside {
        depth: u32,
        string: bool,
        escaped: bool,
    },
    /// After the array.
    End,
}

impl<R: Read> Array<R> {
    pub(crate) fn new(read: R) -> Array<R> {
        Array {
            read,
            state: State::Start,
            error: None,
        }
    }

    /// Begins the array if the first byte that is not blank is a bracket.
    fn start(&mut self, bytes: &mut [u8]) {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte);
        self.state = match bytes.iter().position(|byte| !is_blank(byte)) {
            None => State::Start,
            Some(k) if bytes[k] == b'[' => {
                bytes[k] = b' ';
                State::Inside {
                    depth: 0,
                    string: false,
                    escaped: false,
                }
            }
            Some(_) => State::Other,
        };
    }

    /// The byte that takes the place of this one, if any.
    fn step(&mut self, byte: u8) -> io::Result<Option<u8>> {
        let State::Inside {
            mut depth,
            mut string,
            mut escaped,
        } = self.state
        else {
            return match byte.is_ascii_whitespace() {
                true => Ok(None),
                false => Err(invalid("there is text after the end of the JSON array")),
            };
        };
        let is_break = matches!(byte, b'\n' | b'\r');
        let place = match byte {
            // JSON allows no line break in a string, and no other control character.
            _ if string && is_break => Some(0x01),
            _ if escaped => {
                escaped = false;
                Some(byte)
            }
            b'\\' if string => {
                escaped = true;
                Some(byte)
            }
            b'"' => {
                string = !string;
                Some(byte)
            }
            _ if string => Some(byte),
            b',' if depth == 0 => Some(b'\n'),
            b']' if depth == 0 => {
                self.state = State::End;
                return Ok(Some(b'\n'));
            }
            b'{' | b'[' => {
                depth += 1;
                Some(byte)
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                Some(byte)
            }
            _ if is_break => Some(b' ').filter(|_| depth > 0),
            _ => Some(byte),
        };
        self.state = State::Inside {
            depth,
            string,
            escaped,
        };
        Ok(place)
    }
}

impl<R: Read> Read for Array<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = match self.error.take() {
                Some(error) => return Err(error),
                None => self.read.read(buffer)?,
            };
            if count == 0 && matches!(self.state, State::Inside { .. }) && !buffer.is_empty() {
                return Err(invalid("the JSON array has no end"));
            }
            if self.state == State::Start {
                self.start(&mut buffer[..count]);
            }
            if count == 0 || matches!(self.state, State::Start | State::Other) {
                return Ok(count);
            }
            let mut kept = 0;
            for k in 0..count {
                match self.step(buffer[k]) {
                    Ok(None) => {}
                    Ok(Some(byte)) => {
                        buffer[kept] = byte;
                        kept += 1;
                    }
                    Err(error) => {
                        self.error = Some(error);
                        break;
                    }
                }
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
