import HTTPCore
import HTTPServer
import ToolKit

/// The bytes of a file as an answer: all of them or a part, or word that the client has them.
struct FileContent: Sendable {
    let file: Workspace.File

    private static let piece = 256 << 10

    func answer(range: String?, ifRange: String?, ifNoneMatch: String?) throws -> HTTPAnswer {
        let (length, tag) = (file.entry.size, file.entry.etag)
        if let ifNoneMatch, Self.matches(ifNoneMatch, tag) {
            return HTTPAnswer.empty(.notModified).header("ETag", tag)
        }
        // A part of another version is of no use.
        let wanted = ifRange == nil || ifRange == tag ? try Self.part(range, of: length) : nil
        let part = wanted ?? 0..<length
        var answer = HTTPAnswer.stream(
            "application/octet-stream", length: part.count, status: wanted == nil ? .ok : .partialContent
        ) { [file] body in
            var place = part.lowerBound
            while place < part.upperBound {
                let bytes = try await file.read(at: place, count: min(Self.piece, part.upperBound - place))
                // What has become shorter meanwhile breaks off, and the client sees that something is missing.
                guard !bytes.isEmpty else { return }
                try await body.write(bytes)
                place += bytes.count
            }
        }
        answer.headers["ETag"] = tag
        answer.headers["Accept-Ranges"] = "bytes"
        // Files are data here, whatever a browser would make of them.
        answer.headers["X-Content-Type-Options"] = "nosniff"
        if let wanted {
            answer.headers["Content-Range"] = "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(length)"
        }
        return answer
    }

    private static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").map(\.trimmingSpaces).contains { $0 == "*" || $0 == tag || $0 == "W/" + tag }
    }

    /// The one range that is asked for. Nil for everything: also where it is malformed or of several parts, which "a
    /// server MAY ignore".
    private static func part(_ header: String?, of length: Int) throws(RequestProblem) -> Range<Int>? {
        guard let header, header.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map(\.trimmingSpaces)
        guard ends.count == 2, ends.allSatisfy({ $0.isEmpty || number($0) != nil }) else { return nil }
        switch (number(ends[0]), number(ends[1])) {
        case (let first?, let last?) where first > last: return nil
        case (let first?, let last) where first < length: return first..<min((last ?? length) &+ 1, length)
        case (nil, let count?) where count > 0 && length > 0: return max(0, length - count)..<length
        case (nil, nil): return nil
        default:
            throw RequestProblem(
                HTTPStatus(416), code: "gateway.range", "the range lies behind the end; there are \(length) bytes",
                headers: ["Content-Range": "bytes */\(length)"])
        }
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? Int.max - 1
    }
}
