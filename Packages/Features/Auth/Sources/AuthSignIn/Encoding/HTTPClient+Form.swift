import HTTPClient
import HTTPCore
import JSON

extension HTTPClient {
    /// Posts a form once. A redirect is an answer here, since what is posted is meant for this server only.
    func post(_ fields: FormFields, to url: HTTPURL) async throws -> HTTPResponse {
        var request = HTTPRequest(
            .post, url,
            headers: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"],
            body: .text(fields.text))
        request.redirects = .none
        return try await answer(to: request)
    }

    /// Sends a request without trying again, and tells failures of the network in words of this package.
    func answer(to request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        request.retry = .none
        request.limits.total = .seconds(30)
        request.limits.body = 1 << 20
        do {
            return try await send(request)
        } catch let error as HTTPError where error.kind != .certificate {
            // A certificate is for whoever manages trust, who looks for just that error.
            let isAnswer = [.tooLarge, .headTooLarge, .badAnswer].contains(error.kind)
            throw SignInError(isAnswer ? .badAnswer : .unreachable, error.message, cause: error)
        }
    }
}

extension HTTPResponse {
    /// The body as a JSON object.
    func jsonObject() throws(SignInError) -> JSON {
        // The parser's words may quote the body, and there may be a token in that.
        guard let json = try? JSON(parsing: body, reading: .stream), json.object != nil else {
            throw SignInError(
                .badAnswer, "\(url.server) answered \(status) with something else than a JSON object; check the address"
            )
        }
        return json
    }
}
