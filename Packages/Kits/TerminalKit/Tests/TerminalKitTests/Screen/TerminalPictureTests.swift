import Capabilities
import Testing

@testable import TerminalKit

@Suite("Pictures on a terminal") struct TerminalPictureTests {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private func png(_ width: UInt32 = 10, _ height: UInt32 = 10, more: Int = 0) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        let head = Self.signature + [0, 0, 0, 13] + Array("IHDR".utf8)
        return head + bytes(width) + bytes(height) + (0..<more).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }

    private let size = TerminalSize(columns: 80, rows: 24)

    /// The keys and the payload of each graphics command, and what is around them.
    private func commands(_ frame: [UInt8]) -> (text: String, parts: [(keys: String, payload: String)]) {
        let pieces = String(decoding: frame, as: UTF8.self).split(
            separator: "\u{1B}_G", omittingEmptySubsequences: false)
        let parts = pieces.dropFirst().map { piece in
            let end = piece.hasSuffix("\u{1B}\\")
            let body = (end ? piece.dropLast(2) : piece).split(separator: ";", maxSplits: 1).map(String.init)
            return (keys: body.first ?? "", payload: end ? body.dropFirst().first ?? "" : "cut")
        }
        return (pieces.first.map(String.init) ?? "", parts)
    }

    @Test("A picture is sent whole, in chunks that terminals take, without replies", arguments: [0, 5_000, 50_000])
    func chunks(more: Int) throws {
        let bytes = png(more: more)
        let (text, parts) = commands(try TerminalPicture(png: bytes).frame(in: size, caption: "back"))
        #expect(text.hasPrefix("\u{1B}[?25l\u{1B}[m\u{1B}[2J\u{1B}[Hback"))
        #expect(parts.first?.keys.hasPrefix("a=T,f=100,i=7077,q=2,C=1,m=") == true)
        #expect(parts.allSatisfy { $0.payload.utf8.count <= 4_096 && $0.keys.contains("q=2") })
        #expect(parts.dropLast().allSatisfy { $0.payload.utf8.count % 4 == 0 && $0.keys.hasSuffix("m=1") })
        #expect(parts.last?.keys.hasSuffix("m=0") == true)
        #expect(Base64.decode(parts.map(\.payload).joined()) == bytes)
    }

    @Test("What is no PNG is refused, and so is one that is too large")
    func refused() throws {
        for bytes in [[], Array("GIF89a".utf8), Self.signature, Array(png().dropLast()), [0] + png()] {
            let error = #expect(throws: TerminalError.self) { try TerminalPicture(png: bytes) }
            #expect(error?.kind == .noPicture && error?.message.contains("save it") == true)
        }
        let most = png(more: TerminalPicture.limit - png().count)
        #expect(throws: Never.self) { try TerminalPicture(png: most) }
        let error = #expect(throws: TerminalError.self) { try TerminalPicture(png: most + [0]) }
        #expect(error?.kind == .tooLong)
    }

    @Test(
        "A picture that may be larger than the screen is fitted by its longer side",
        arguments: [
            (10, 10, ""), (480, 276, ""), (481, 10, ",c=80"), (4_000, 100, ",c=80"), (100, 4_000, ",r=23"),
            (UInt32.max, UInt32.max, ",r=23"), (0, 0, ""),
        ] as [(UInt32, UInt32, String)])
    func fitted(width: UInt32, height: UInt32, keys: String) throws {
        let frame = try TerminalPicture(png: png(width, height)).frame(in: size, caption: "")
        #expect(commands(frame).parts.first?.keys == "a=T,f=100,i=7077,q=2,C=1\(keys),m=0")
        for size in [(0, 0), (1, 1)] {
            let picture = try TerminalPicture(png: png(width, height))
            #expect(!picture.frame(in: TerminalSize(columns: size.0, rows: size.1), caption: "a").isEmpty)
        }
    }

    @Test("A caption cannot send sequences, and is cut to the window")
    func caption() throws {
        let caption = "a\u{1B}]0;evil\u{7}" + String(repeating: "x", count: 200)
        let text = commands(try TerminalPicture(png: png()).frame(in: size, caption: caption)).text
        #expect(!text.contains("\u{1B}]") && !text.contains("\u{7}") && TextWidth.of(text) < 120)
    }

    @Test("Only terminals that are known to show pictures are sent one, and never tmux or screen")
    func known() {
        #expect(TerminalPicture.isShown(in: ["TERM": "xterm-kitty"]))
        #expect(TerminalPicture.isShown(in: ["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"]))
        #expect(!TerminalPicture.isShown(in: ["TERM": "xterm-256color"]) && !TerminalPicture.isShown(in: [:]))
        #expect(!TerminalPicture.isShown(in: ["TERM_PROGRAM": "ghostty", "TMUX": "/tmp/tmux,1,0"]))
        #expect(!TerminalPicture.isShown(in: ["TERM": "xterm-kitty", "STY": "1.pts"]))
    }

    @Test("It is removed by the number under which it is shown, with its data")
    func removal() {
        let (text, parts) = commands(TerminalPicture.removal)
        #expect(text.isEmpty && parts.map(\.keys) == ["a=d,d=I,i=7077,q=2"])
    }
}
