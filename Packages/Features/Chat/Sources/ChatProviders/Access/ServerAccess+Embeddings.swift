import Capabilities
import HTTPClient
import HTTPCore
import JSON
import OpenAIDialect

extension ServerAccess {
    /// Asks for texts as vectors, once.
    func embeddings(_ body: JSONObject, at url: HTTPURL) async throws -> JSONObject {
        let model = body["model"]?.string ?? ""
        let exchange: HTTPExchange
        let bytes: [UInt8]
        do {
            exchange = try await ask(url, body, streams: false)
            bytes = try await exchange.collect(limit: AnswerLimits.largestWhole)
        } catch let error as HTTPError {
            throw ChatError(error, hasBegun: false, from: self) ?? error
        }
        guard exchange.status.isSuccess else {
            let wait = HTTPError(status: exchange.status, headers: exchange.headers, body: [], server: "").retryAfter
            let refusal = OpenAIDialect(.compatible).refusal(in: clean(bytes))
            throw ChatError(refusal, status: exchange.status.code, retryAfter: wait, model: model, from: self)
        }
        do {
            if let answer = try JSON(parsing: bytes, reading: .stream).object, answer["data"]?.array != nil {
                return answer
            }
        } catch {
            // It is no answer either way.
        }
        throw ChatError(.badAnswer, "\(name) sent what is no list of embeddings", provider: id)
    }
}
