/// The method of a request.
public struct HTTPMethod: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The method as it is sent. Methods are case-sensitive.
    public let rawValue: String

    /// Any method. One that is not a token makes the request fail.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// GET: returns the content of an address and changes nothing.
    public static let get = HTTPMethod(rawValue: "GET")
    /// HEAD: like GET, but returns only status and headers.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// POST: gives the body to the address to process; doing it twice may have two effects.
    public static let post = HTTPMethod(rawValue: "POST")
    /// PUT: replaces the content of an address with the body.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// PATCH: changes a part of the content; doing it twice may have two effects.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// DELETE: removes the content of an address.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// OPTIONS: asks what an address supports, such as a browser's preflight.
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    /// Whether doing it twice is the same as doing it once, by RFC 9110.
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options: true
        default: false
        }
    }

    public var description: String { rawValue }
}
