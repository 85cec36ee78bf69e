import Capabilities

/// The messages for the model about calls that were not run or failed.
enum CallMessages {
    static let stopped = "stopped by the person before it was done"
    static let brokenOff = "not done, because the answer that asked for it broke off"
    static let refused = "not done, because a filter withheld the answer"
    static let nobody = "not done: nobody was there to approve this call"
    static let forbidden = "not done: a rule of the user denies this call"
    static let restless =
        "not done: its target was changed by another program after each approval; look at it again first"
    static let unknownEnd = "no result of this call is known: the program ended before it was done"

    static func unrecorded(_ error: any Error) -> String {
        "not done: it could not be recorded in the audit log, and nothing is changed or sent without a record: "
            + "\(said(AnyFailure(error).message)); tell the user, and go on with what only reads"
    }

    static func rounds(_ limit: Int) -> String {
        "not done: the model has been asked \(limit) times in this turn, which is the limit"
    }

    static func tooMany(_ limit: Int) -> String {
        "not done: one answer may hold up to \(limit) calls; make it again in the next answer"
    }

    static func tooSlow(_ limit: Duration) -> String {
        "the tool did not answer within \(limit.words) and was stopped"
    }

    static func declined(_ reason: String?) -> String {
        "not done: the user does not allow this call" + (reason.map { ": \(said($0))" } ?? "")
    }

    static func malformed(_ reason: String) -> String {
        "the call could not be read: \(said(reason)); write it again with its input as one JSON object"
    }

    static func impossible(_ error: any Error) -> String { said(AnyFailure(error).message) }

    static func failed(_ error: any Error) -> String {
        "the tool could not be used: \(said(AnyFailure(error).message))"
    }

    /// Text from elsewhere, shortened and escaped.
    private static func said(_ words: String) -> String {
        PlainText.escape(words, limit: 500)
    }
}
