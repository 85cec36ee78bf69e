import Capabilities

/// A PNG that a terminal with kitty's graphics protocol shows on a screen of its own. The terminal decodes it.
///
///     let picture = try TerminalPicture(png: bytes)
///     if TerminalPicture.isShown(in: environment) {
///         terminal.offer(frame: picture.frame(in: terminal.size, caption: "Any key goes back"), replacesWaiting: true)
///         // After any key, everything has to be painted again.
///         terminal.offer(frame: TerminalPicture.removal)
///     }
///
/// Show one only when the user asks for it.
public struct TerminalPicture: Sendable {
    /// The most bytes of a picture.
    public static let limit = 4 << 20

    /// The first bytes of every PNG (its specification, section 5.2), and how many there are up to the end of the size.
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let headSize = 24
    /// "The payload must be split into chunks of at most 4096 bytes" of Base64.
    private static let chunk = 4_096
    /// Another number than those that other programs begin with.
    private static let id = 7_077

    private let bytes: [UInt8]
    private let (width, height): (Int, Int)

    /// Throws `noPicture` for what is no PNG, and `tooLong` above ``limit``. Nothing but the beginning is looked at.
    public init(png bytes: [UInt8]) throws(TerminalError) {
        guard bytes.starts(with: Self.signature), bytes.count >= Self.headSize else {
            throw TerminalError(.noPicture, "a terminal shows only PNG pictures, and this is none; save it to a file")
        }
        guard bytes.count <= Self.limit else {
            throw TerminalError(
                .tooLong,
                "the picture has \(ByteCount(bytes.count).words), and a terminal is given at most "
                    + "\(ByteCount(Self.limit).words); save it to a file")
        }
        func number(at start: Int) -> Int { bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
        (width, height) = (number(at: 16), number(at: 20))
        self.bytes = bytes
    }

    /// Whether the terminal is known to show pictures.
    ///
    /// It is not asked: tmux takes the question for a title and screen falls silent, and a terminal in which one of them
    /// runs leaves its variables in their environment.
    public static func isShown(in environment: [String: String]) -> Bool {
        guard environment["TMUX"] == nil, environment["STY"] == nil else { return false }
        let kinds: Set = ["xterm-kitty", "xterm-ghostty"]
        let programs: Set = ["ghostty", "WezTerm"]
        return environment["TERM"].map(kinds.contains) == true
            || environment["TERM_PROGRAM"].map(programs.contains) == true
    }

    /// The bytes that clear the screen and show the picture, below a line of text. A picture that may be too large is made
    /// smaller by the terminal.
    public func frame(in size: TerminalSize, caption: String) -> [UInt8] {
        let line = TextWidth.truncate(PlainText.escape(caption), to: max(0, size.columns - 1))
        // Without replies (q), and with the cursor left where it is (C), so that nothing scrolls.
        var keys = "a=T,f=100,i=\(Self.id),q=2,C=1\(fitting(size))"
        var frame = Array("\u{1B}[?25l\u{1B}[m\u{1B}[2J\u{1B}[H\(line)\r\n".utf8)
        var rest = Base64.encode(bytes).utf8[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.chunk)
            rest = rest.dropFirst(part.count)
            frame += "\u{1B}_G\(keys),m=\(rest.isEmpty ? 0 : 1);".utf8
            frame += part
            frame += FrameSequence.stringEnd
            keys = "q=2"
        }
        return frame
    }

    /// The bytes that remove the picture, also from the terminal's memory.
    public static let removal = Array("\u{1B}_Ga=d,d=I,i=\(id),q=2\u{1B}\\".utf8)

    /// How many columns or rows it takes, the other being by its shape; nothing if it surely fits as it is.
    private func fitting(_ size: TerminalSize) -> String {
        let (columns, rows) = (max(1, size.columns), max(1, size.rows - 1))
        // No font in use has smaller cells, and all are about twice as high as wide.
        guard width > columns * 6 || height > rows * 12 else { return "" }
        return width * rows * 2 > height * columns ? ",c=\(columns)" : ",r=\(rows)"
    }
}
