import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// The members of an object from a server, read leniently: unknown members are ignored, numbers and texts are
/// converted, and a name may have two spellings.
struct Members {
    private let object: JSONObject
    private let server: String

    init(_ object: JSONObject, from server: String) {
        self.object = object
        self.server = server
    }

    /// The text of the first of these members that has one.
    func text(_ names: String...) -> String? {
        for name in names {
            switch object[name] {
            case .string(let text)? where !text.isEmpty: return text
            case .int(let number)?: return String(number)
            case .big(let digits)?: return digits
            default: continue
            }
        }
        return nil
    }

    func requiredText(_ names: String...) throws(KamiwazaError) -> String {
        for name in names { if let text = text(name) { return text } }
        throw missing(names[0])
    }

    /// A credential. A value that is not valid in a header is rejected.
    func secret(_ name: String) throws(KamiwazaError) -> Secret? {
        guard let text = object[name]?.string, !text.isEmpty else { return nil }
        guard text.utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw KamiwazaError(
                .badAnswer, "unexpected response from \(server): its \(name) is not valid")
        }
        return Secret(text)
    }

    func requiredSecret(_ name: String) throws(KamiwazaError) -> Secret {
        guard let secret = try secret(name) else { throw missing(name) }
        return secret
    }

    func flag(_ name: String) -> Bool? { object[name]?.bool }

    func texts(_ name: String) -> [String] { object[name]?.array?.compactMap(\.string) ?? [] }

    /// An integer of seconds, which some servers send as text.
    func seconds(_ name: String) -> Duration? {
        guard let seconds = number(name), seconds >= 0, seconds < 1e10 else { return nil }
        return .seconds(Int(seconds))
    }

    /// ISO 8601 with or without a zone, or seconds since 1970.
    func time(_ names: String...) -> Timestamp? {
        for name in names {
            if let time = object[name]?.string.flatMap(Timestamp.init(iso8601:)) { return time }
            if let seconds = number(name), abs(seconds) < 1e11 {
                return Timestamp(microseconds: Int64((seconds * 1e6).rounded()))
            }
        }
        return nil
    }

    func members(_ name: String) throws(KamiwazaError) -> Members {
        guard let inner = object(name) else { throw missing(name) }
        return inner
    }

    func object(_ name: String) -> Members? { object[name]?.object.map { Members($0, from: server) } }

    private func number(_ name: String) -> Double? {
        object[name]?.double ?? object[name]?.string.flatMap { Double($0) }
    }

    private func missing(_ name: String) -> KamiwazaError {
        KamiwazaError(
            .badAnswer,
            "unexpected response from \(server): it has no valid \(name); the server may be too old or too new")
    }
}

extension HTTPResponse {
    /// The response as JSON.
    func json() throws(KamiwazaError) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: body, reading: .stream)
        } catch {
            guard !isWebPage else {
                throw KamiwazaError(
                    .badAnswer,
                    "\(url.server) sent a web page instead of JSON; check that the address is that of the API",
                    status: status.code)
            }
            let what = body.isEmpty ? "an empty response" : "a response that is not JSON"
            throw KamiwazaError(
                .badAnswer, "\(url.server) sent \(what); check the address, or try again later", status: status.code)
        }
    }

    /// The response as an object.
    func members() throws(KamiwazaError) -> Members {
        guard let object = try json().object else { throw notAsPromised("an object") }
        return Members(object, from: url.server)
    }

    /// The objects of the response if it is a list, or of its member with that name. Other entries are ignored.
    func list(_ name: String) throws(KamiwazaError) -> [Members] {
        let json = try json()
        guard let entries = json.array ?? json[name]?.array else { throw notAsPromised("a list of \(name)") }
        return entries.compactMap(\.object).map { Members($0, from: url.server) }
    }

    private func notAsPromised(_ expected: String) -> KamiwazaError {
        KamiwazaError(
            .badAnswer,
            "unexpected response from \(url.server): it is not \(expected); the server may be too old or too new",
            status: status.code)
    }

    private var isWebPage: Bool {
        let type = headers["Content-Type"]?.lowercased() ?? ""
        return type.hasPrefix("text/html") || body.first { !($0 == 32 || (9...13).contains($0)) } == UInt8(ascii: "<")
    }
}
