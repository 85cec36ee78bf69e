import Glibc

@testable import TerminalKit

/// A pipe whose content the test reads back.
final class Pipe: Sendable {
    private let ends: WakePipe

    init() throws { ends = try WakePipe() }

    var writeEnd: Int32 { ends.writeEnd }

    /// Everything that was written until now.
    func content() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(ends.readEnd, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
