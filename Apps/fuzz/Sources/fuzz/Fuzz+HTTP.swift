import Cryptography
import HTTPCore

/// Cuts an input in two places that its own bytes choose, since parsers err where data is cut.
private func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    guard bytes.count > 2 else { return [bytes] }
    let first = Int(bytes[0]) * bytes.count / 256
    let second = first + Int(bytes[1]) * (bytes.count - first) / 256
    return [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
}

/// Events are the same however the stream is cut, and what is written of them is read as the same.
func readEvents(_ bytes: [UInt8]) throws {
    var parser = EventParser()
    let whole = try parser.read(bytes)
    var cut = EventParser()
    var events: [ServerSentEvent] = []
    for piece in pieces(of: bytes) { events += try cut.read(piece) }
    precondition(whole == events && parser.lastEventID == cut.lastEventID, "a cut changes the events")
}

/// Frames are the same however they are cut, for both sides.
func readFrames(_ bytes: [UInt8]) throws {
    for role in [WebSocketRole.client, .server] {
        let whole = inputs(of: [bytes], role)
        precondition(whole == inputs(of: pieces(of: bytes), role), "a cut changes the frames")
    }
}

private func inputs(of pieces: [[UInt8]], _ role: WebSocketRole) -> [WebSocketReader.Input?] {
    var reader = WebSocketReader(role: role)
    var inputs: [WebSocketReader.Input?] = []
    do throws(WebSocketViolation) {
        for piece in pieces {
            unsafe piece.withUnsafeBytes { unsafe reader.append($0) }
            while let input = try reader.next() { inputs.append(input) }
        }
    } catch {
        inputs.append(nil)
    }
    return inputs
}

/// A certificate that can be read can be read again from what it says it is.
func readCertificate(_ bytes: [UInt8]) throws {
    let certificate = try Certificate(der: bytes)
    _ = (certificate.subject, certificate.issuer, certificate.dnsNames, certificate.addresses, certificate.key)
    _ = (certificate.notBefore, certificate.notAfter, certificate.serial, certificate.matches(host: "localhost"))
    let again = try Certificate(der: certificate.encoded)
    precondition(again == certificate, "a certificate reads as another one")
}
