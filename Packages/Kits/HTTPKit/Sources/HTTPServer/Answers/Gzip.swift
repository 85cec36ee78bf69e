import CZlib
import HTTPCore

/// Whole answers in gzip, for clients that ask for it.
enum Gzip {
    /// Below this a compressed answer saves nothing: it fits one packet anyway.
    static let smallest = 1 << 10
    /// Above this the work would hold up others for too long.
    static let largest = 8 << 20

    /// The bytes in gzip, or nil when that would not be shorter.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        // 15 window bits as usual, and 16 more mean a gzip head instead of zlib's.
        guard
            unsafe deflateInit2_(
                &stream, 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)
            )
                == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let result = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                let isWhole = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = unsafe isWhole ? output.count - Int(stream.avail_out) : 0
            }
        }
        return result.isEmpty ? nil : result
    }

    /// Whether a body of that size and kind may be compressed at all.
    static func canCompress(_ count: Int, _ headers: HTTPHeaders) -> Bool {
        count >= smallest && count <= largest && headers["Content-Encoding"] == nil
            && headers["Content-Type"].map(isWorthwhile) ?? false
    }

    /// Whether a client takes gzip: a weight of zero refuses it.
    static func isAccepted(_ header: String?) -> Bool {
        guard let header else { return false }
        var any = false
        for member in header.split(separator: ",") {
            let parts = member.split(separator: ";")
            guard let name = parts.first?.trimmingSpaces.lowercased() else { continue }
            let isRefused = parts.dropFirst().contains { weight in
                let text = weight.trimmingSpaces.lowercased()
                return text.hasPrefix("q=") && Double(text.dropFirst(2)) == 0
            }
            if name == "gzip" || name == "x-gzip" { return !isRefused }
            if name == "*" { any = !isRefused }
        }
        return any
    }

    /// Whether a type is text of some kind; pictures, films and archives are compressed already.
    static func isWorthwhile(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        return name.hasPrefix("text/") && name != "text/event-stream" || name.hasSuffix("+json")
            || name.hasSuffix("+xml") || types.contains(name)
    }

    private static let types: Set<String> = [
        "application/json", "application/javascript", "application/xml", "application/x-ndjson",
        "application/openapi+json", "application/yaml", "application/wasm",
    ]
}
