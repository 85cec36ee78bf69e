import Capabilities
import HTTPClient
import HTTPCore
import JSON
import ModelKit
import OpenAIDialect

extension ServerAccess {
    /// Asks for a list; every status but success is an error in plain words.
    func list(_ url: HTTPURL) async throws -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try await get(url)
        } catch let error as HTTPError {
            throw ChatError(error, hasBegun: false, from: self) ?? error
        }
        guard response.status.isSuccess else { throw refused(response) }
        return response
    }

    /// What a status that is no success means.
    func refused(_ response: HTTPResponse) -> ChatError {
        let wait = HTTPError(status: response.status, headers: response.headers, body: [], server: "").retryAfter
        // All envelopes of errors are understood by this one.
        let refusal = OpenAIDialect(.compatible).refusal(in: clean(response.body))
        return ChatError(refusal, status: response.status.code, retryAfter: wait, model: "", from: self)
    }

    /// What a reader of a body throws, in the words of this module.
    func reading<Result>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch let error as DialectError {
            throw ChatError(error, model: "", from: self)
        }
    }
}

extension HTTPURL {
    /// With another pair in the query.
    func adding(_ name: String, _ value: String) throws(HTTPError) -> HTTPURL {
        var pair = "\(name)="
        for byte in value.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: pair.unicodeScalars.append(Unicode.Scalar(byte))
            default: pair += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return try resolving("?" + (query.map { "\($0)&" } ?? "") + pair)
    }
}
