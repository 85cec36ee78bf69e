/// A text from a terminal that understands no escape sequence: the terminal edits each line, and a backslash at the
/// end asks for one more.
struct PlainComposition: Sendable {
    let prompt: StyledText

    func ask(on device: borrowing TerminalDevice) throws(TerminalError) -> String? {
        var bytes: [UInt8] = []
        try device.write(prompt.singleLine.plainText)
        while true {
            switch try device.read() {
            case .byte(0x0A):
                guard bytes.last == UInt8(ascii: "\\") else { return text(bytes) }
                bytes[bytes.count - 1] = 0x0A
                try device.write("… ")
            case .byte(let byte):
                bytes.append(byte)
                guard bytes.count <= Composer.limit else {
                    throw TerminalError(
                        .tooLong, "the text is longer than \(Composer.limit) bytes; give it by a file")
                }
            case .end: return bytes.isEmpty ? nil : text(bytes)
            case .resized, .continued, .quiet: break
            }
        }
    }

    private func text(_ bytes: [UInt8]) -> String { Sanitizer.sanitize(String(decoding: bytes, as: UTF8.self)) }
}
