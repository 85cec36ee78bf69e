import DialectTesting

/// The streams that this dialect reads.
typealias Fixture = NamedStream

extension Fixture {
    static let all = texts + calls + proxies + ends
}
