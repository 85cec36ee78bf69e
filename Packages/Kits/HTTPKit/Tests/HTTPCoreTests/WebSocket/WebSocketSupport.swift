@testable import HTTPCore

/// The inputs that a reader read from some bytes, and the violation that ended the reading.
struct Reading: Equatable {
    var inputs: [WebSocketReader.Input] = []
    var violation: WebSocketViolation?
}

/// Reads bytes in the given parts, as they would arrive.
func read(_ parts: [ArraySlice<UInt8>], as role: WebSocketRole, limit: Int = 1 << 20) -> Reading {
    var reader = WebSocketReader(role: role, limits: WebSocketLimits(message: limit))
    var reading = Reading()
    for part in parts {
        unsafe part.withUnsafeBytes { unsafe reader.append($0) }
        do {
            while let input = try reader.next() { reading.inputs.append(input) }
        } catch {
            reading.violation = error
            return reading
        }
    }
    return reading
}

func read(_ bytes: [UInt8], as role: WebSocketRole, limit: Int = 1 << 20) -> Reading {
    read([bytes[...]], as: role, limit: limit)
}

/// A frame's bytes as the role sends them, with a mask that a test's reader can check.
func bytes(_ frame: WebSocketFrame, by role: WebSocketRole) -> [UInt8] {
    var bytes: [UInt8] = []
    frame.append(to: &bytes, mask: role == .client ? 0xA1B2_C3D4 : nil)
    return bytes
}

func bytes(_ frames: [WebSocketFrame], by role: WebSocketRole) -> [UInt8] {
    frames.flatMap { bytes($0, by: role) }
}

func frame(_ opcode: WebSocketOpcode, _ text: String, isFinal: Bool = true) -> WebSocketFrame {
    WebSocketFrame(opcode, Array(text.utf8), isFinal: isFinal)
}

extension WebSocketRole {
    var other: WebSocketRole { self == .client ? .server : .client }
}
