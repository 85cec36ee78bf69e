public import JSON

/// A server that an action is given: a host, `host:port`, or an address. Whether its caller may speak to it is decided by
/// `HTTPClient` before the name is looked up, also for each address that a server redirects to.
public struct HostValue: InputValue, OutputValue, Hashable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .host }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs a host") }
        self.init(text)
    }
}
