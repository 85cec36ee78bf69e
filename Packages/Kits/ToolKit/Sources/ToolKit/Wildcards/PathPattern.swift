/// A path pattern from a user or model, with braces.
struct PathPattern: Sendable {
    private let wildcards: [Wildcard]
    /// Whether it names something hidden, so that hidden files are searched too.
    let namesHidden: Bool
    /// Whether it has no slash, so that it matches names in any folder.
    let isName: Bool

    init(_ text: String) throws(WorkspaceError) {
        var bytes = Array(text.utf8)
        if bytes.starts(with: [Byte.dot, Byte.slash]) { bytes.removeFirst(2) }
        guard !bytes.isEmpty, text.unicodeScalars.count <= 1000, !bytes.contains(0) else {
            throw WorkspaceError(.pattern, "the pattern is empty, too long or has a NUL; use one like **/*.swift")
        }
        guard bytes.first != Byte.slash else {
            throw WorkspaceError(.outside, "the pattern is an absolute path; make it relative to the working folder")
        }
        var wildcards: [Wildcard] = []
        for pattern in try Braces.expand(bytes) {
            guard let wildcard = Wildcard(pattern, unit: .character) else {
                throw WorkspaceError(
                    .pattern, "the pattern has an unclosed bracket or too many stars; fix it and try again")
            }
            wildcards.append(wildcard)
        }
        self.wildcards = wildcards
        isName = !bytes.contains(Byte.slash)
        namesHidden = bytes.split(separator: Byte.slash).contains { part in
            part.first == Byte.dot || part.first == UInt8(ascii: "{") && part.dropFirst().first == Byte.dot
        }
    }

    func matches(_ path: [UInt8], from start: Int = 0) -> Bool {
        wildcards.contains { $0.matches(path, from: start) }
    }
}

/// Expands `*.{c,h}` to `*.c` and `*.h`. A brace that is not closed, or has no comma, is literal.
enum Braces {
    static let largestCount = 256

    static func expand(_ pattern: [UInt8]) throws(WorkspaceError) -> [[UInt8]] {
        var done: [[UInt8]] = []
        var waiting = [pattern]
        while let next = waiting.popLast() {
            guard let (range, choices) = firstGroup(in: next) else {
                done.append(next)
                continue
            }
            for choice in choices.reversed() {
                waiting.append(Array(next[..<range.lowerBound]) + choice + Array(next[range.upperBound...]))
            }
            guard done.count + waiting.count <= largestCount else {
                throw WorkspaceError(
                    .pattern, "the braces expand to more than \(largestCount) patterns; use a simpler pattern")
            }
        }
        return done
    }

    private static func firstGroup(in pattern: [UInt8]) -> (Range<Int>, [[UInt8]])? {
        var place = 0
        while place < pattern.count {
            switch pattern[place] {
            case Byte.backslash: place += 1
            case UInt8(ascii: "{"):
                if let (end, choices) = group(in: pattern, from: place + 1), choices.count > 1 {
                    return (place..<end, choices)
                }
            default: break
            }
            place += 1
        }
        return nil
    }

    /// The choices up to the closing brace, split at the commas outside of inner braces.
    private static func group(in pattern: [UInt8], from start: Int) -> (end: Int, choices: [[UInt8]])? {
        var choices: [[UInt8]] = [[]]
        var depth = 0
        var place = start
        while place < pattern.count {
            let byte = pattern[place]
            switch byte {
            case Byte.backslash where place + 1 < pattern.count:
                choices[choices.count - 1].append(byte)
                place += 1
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}") where depth == 0: return (place + 1, choices)
            case UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                choices.append([])
                place += 1
                continue
            default: break
            }
            choices[choices.count - 1].append(pattern[place])
            place += 1
        }
        return nil
    }
}
