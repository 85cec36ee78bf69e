extension ChatError {
    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: `chat.rate-limited`.
        public let description: String

        private init(_ name: String) {
            description = "chat.\(name)"
        }

        // MARK: What the server says

        /// The key, or the sign-in, is not accepted.
        public static let keyRefused = Kind("key-refused")
        /// The account has no right to this.
        public static let forbidden = Kind("forbidden")
        /// The account has no money left, or no quota.
        public static let noCredit = Kind("no-credit")
        public static let rateLimited = Kind("rate-limited")
        public static let modelNotFound = Kind("model-not-found")
        /// The model was there and is not any more.
        public static let modelGone = Kind("model-gone")
        /// The conversation is longer than the model can read.
        public static let tooLong = Kind("too-long")
        /// A filter of the provider holds the answer, or the question, back.
        public static let contentRefused = Kind("content-refused")
        /// The server does not understand the request; the message has its words.
        public static let invalidRequest = Kind("invalid-request")
        public static let serverFailed = Kind("server-failed")
        /// The server is starting or overloaded.
        public static let notReady = Kind("not-ready")

        // MARK: What happens on the way

        public static let unreachable = Kind("unreachable")
        public static let timedOut = Kind("timed-out")
        /// The answer broke off.
        public static let streamLost = Kind("stream-lost")
        /// There is nothing in the answer.
        public static let empty = Kind("empty")
        /// What came is no answer of such a server.
        public static let badAnswer = Kind("bad-answer")
        public static let tooLarge = Kind("too-large")
        /// The server sends the request elsewhere, where it is not sent without being asked.
        public static let redirected = Kind("redirected")

        // MARK: What was asked for

        /// The request has something in it that this server does not take.
        public static let unsupported = Kind("unsupported")
        /// There is no key for the provider.
        public static let noKey = Kind("no-key")
        /// Nobody can be asked.
        public static let noProvider = Kind("no-provider")
        public static let unknownProvider = Kind("unknown-provider")
        /// A gateway has no project of that name, or several.
        public static let unknownProject = Kind("unknown-project")
        /// A server was found on this machine that nobody has named or agreed to.
        public static let notAgreed = Kind("not-agreed")
        /// The folder is none in which models may write.
        public static let toolFolder = Kind("tool-folder")
        /// The provider has no model.
        public static let noModel = Kind("no-model")
        /// The beginning of a name fits several models.
        public static let ambiguousModel = Kind("ambiguous-model")
        /// What stands in the settings or the environment is no address.
        public static let badAddress = Kind("bad-address")
    }
}
