import Glibc

/// The line that the user types, byte by byte. It knows keys but no terminal.
struct LineEditor: Sendable {
    enum Step: Equatable {
        case unfinished, finished, end, interrupted, suspended, tooLong
    }

    static let limit = 65_536

    private(set) var bytes: [UInt8] = []
    private let isSecret: Bool
    private var decoder = InputDecoder()

    init(isSecret: Bool) {
        self.isSecret = isSecret
        // A secret must not leave copies in buffers that it has outgrown.
        if isSecret { bytes.reserveCapacity(Self.limit) }
        decoder.collectsPastes = false
    }

    /// How long an incomplete key is worth waiting for.
    var patience: Duration? { decoder.patience }

    /// - Parameter silence: the time since the byte before.
    mutating func receive(_ byte: UInt8, after silence: Duration = .zero) -> Step {
        decoder.wait(silence)
        // No answer contains a line end, so the string began as a key such as Alt-], and Return was typed after it.
        if decoder.isInString, byte == 0x0D || byte == 0x0A {
            let step = act(on: decoder.stopWaiting())
            if step != .unfinished { return step }
        }
        // Text is taken as it comes, because a secret may be in any encoding.
        if decoder.isAtGround, byte >= 0x20, byte != 0x7F { return append(CollectionOfOne(byte)) }
        return act(on: decoder.receive(byte))
    }

    /// Nothing followed an incomplete key.
    mutating func stopWaiting() -> Step { act(on: decoder.stopWaiting()) }

    /// Overwrites and forgets the typed text.
    mutating func wipe() {
        unsafe bytes.withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { unsafe explicit_bzero(start, buffer.count) }
        }
        bytes.removeAll(keepingCapacity: true)
    }

    private mutating func act(on events: [InputEvent]) -> Step {
        for event in events {
            var step = Step.unfinished
            switch event {
            case .key(let press): step = act(on: press)
            case .text(let text): step = append(text.utf8)
            case .mouse, .paste, .focus, .reply: break
            }
            if step != .unfinished { return step }
        }
        return .unfinished
    }

    private mutating func act(on press: KeyPress) -> Step {
        if let scalar = press.text { return append(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
        switch (press.key, press.modifiers.subtracting(.alt)) {
        // Return and Ctrl-C work even after a lone Escape.
        case (.enter, _), (.character("j"), .ctrl): return .finished
        case (.character("c"), .ctrl): return .interrupted
        case _ where press.modifiers.contains(.alt): break
        case (.character("z"), .ctrl): return .suspended
        case (.character("d"), .ctrl): return bytes.isEmpty ? .end : .unfinished
        case (.character("u"), .ctrl): wipe()
        case (.backspace, _): removeLast()
        case (.tab, []): return append(CollectionOfOne(0x09))
        default: break
        }
        return .unfinished
    }

    private mutating func append(_ more: some Collection<UInt8>) -> Step {
        if bytes.count + more.count > Self.limit { return .tooLong }
        bytes += more
        return .unfinished
    }

    private mutating func removeLast() {
        var count = 1
        if isSecret {
            while count < bytes.count && bytes[bytes.count - count] & 0xC0 == 0x80 { count += 1 }
        } else {
            count = String(decoding: bytes, as: UTF8.self).last?.utf8.count ?? 1
        }
        for _ in 0..<min(count, bytes.count) {
            bytes[bytes.count - 1] = 0
            bytes.removeLast()
        }
    }
}

extension LineEditor {
    /// The end of the typed line that fits `width` columns, sanitised.
    func visibleTail(width: Int) -> String {
        let text = Sanitizer.sanitize(String(decoding: bytes, as: UTF8.self))
        var start = text.endIndex
        var used = 0
        while start > text.startIndex {
            let before = text.index(before: start)
            used += TextWidth.of(text[before])
            if used > width { break }
            start = before
        }
        return String(text[start...])
    }
}
