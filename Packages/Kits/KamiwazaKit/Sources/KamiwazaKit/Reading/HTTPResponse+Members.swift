import Capabilities
import HTTPClient
import HTTPCore
import JSON

extension HTTPResponse {
    /// The answer as JSON.
    func json() throws(KamiwazaError) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: body, reading: .stream)
        } catch {
            guard !isWebPage else {
                throw KamiwazaError(
                    .badAnswer,
                    "\(url.server) sent a web page instead of an answer; check that the address leads to the API",
                    status: status.code)
            }
            let what = body.isEmpty ? "an empty answer" : "an answer that is no JSON"
            throw KamiwazaError(
                .badAnswer, "\(url.server) sent \(what); check the address, or try again later", status: status.code)
        }
    }

    /// The answer as an object.
    func members() throws(KamiwazaError) -> Members {
        guard let object = try json().object else { throw notAsPromised("an object") }
        return Members(object, from: url.server)
    }

    /// The objects of a list that is the answer, or one of its members; what is no object in it is passed over.
    func list(_ name: String) throws(KamiwazaError) -> [Members] {
        let json = try json()
        guard let entries = json.array ?? json[name]?.array else { throw notAsPromised("a list of \(name)") }
        return entries.compactMap(\.object).map { Members($0, from: url.server) }
    }

    private func notAsPromised(_ expected: String) -> KamiwazaError {
        KamiwazaError(
            .badAnswer, "the answer of \(url.server) is not \(expected); the server may be too old or too new",
            status: status.code)
    }

    private var isWebPage: Bool {
        let type = headers["Content-Type"]?.lowercased() ?? ""
        return type.hasPrefix("text/html") || body.first { !($0 == 32 || (9...13).contains($0)) } == UInt8(ascii: "<")
    }
}
