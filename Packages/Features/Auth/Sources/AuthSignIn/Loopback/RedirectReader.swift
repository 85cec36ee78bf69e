import Capabilities

/// Judges what a browser brings, without any connection: a value, so that every case can be tried.
struct RedirectReader: Sendable {
    /// What only the server that was asked can know.
    let state: Secret
    /// The issuer that was asked, where it has one.
    let issuer: String?
    /// Whether the issuer promised to name itself (RFC 9207).
    let needsIssuer: Bool

    enum Verdict: Sendable {
        /// The redirect that was waited for.
        case answer(RedirectAnswer)
        /// The server's refusal, which ends the sign-in too.
        case refusal(SignInError)
        /// Not from the server that was asked. Anybody who can reach this port may send such a thing, so it ends nothing.
        case stranger
        /// Nothing at all, as when the answer is in the fragment, which browsers keep to themselves.
        case nothing
    }

    func judge(_ fields: FormFields, received: Timestamp) -> Verdict {
        let states = fields.all("state")
        let answers = ["code", "error", "access_token"].filter { !fields.all($0).isEmpty }
        if answers.isEmpty { return .nothing }
        // Of several states each has to be right: the one in the redirect address and the one that a server adds.
        guard !states.isEmpty, states.allSatisfy({ Secret($0).equals(state) }) else { return .stranger }
        // RFC 6749, section 3.1: parameters "MUST NOT be included more than once".
        guard fields.repeated.subtracting(["state"]).isEmpty, answers.count == 1 else { return .stranger }
        if let problem = issuerProblem(fields["iss"]) { return .refusal(problem) }
        if let code = fields["error"] { return .refusal(refusal(code, fields["error_description"])) }
        if let code = fields["code"] { return .answer(.code(Secret(code))) }
        if let tokens = TokenAnswer(fields, received: received) { return .answer(.tokens(tokens)) }
        return .refusal(SignInError(.badAnswer, "the server sent the browser back without a usable answer"))
    }

    private func issuerProblem(_ named: String?) -> SignInError? {
        guard let issuer, needsIssuer || named != nil, named != issuer else { return nil }
        return SignInError(
            .issuer, "the answer in the browser comes from another server than the one asked; do not sign in there")
    }

    private func refusal(_ code: String, _ description: String?) -> SignInError {
        let reason = ForeignWords.line(code, hiding: [state])
        let sentence = Refusal.sentence(reason) ?? "it gives no reason"
        let words = ForeignWords.line(description, hiding: [state]).map { " (\($0))" } ?? ""
        return .refused("the server refused the sign-in: \(sentence)\(words)", reason: reason)
    }
}
