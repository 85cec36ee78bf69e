/// In what a server that speaks OpenAI's Chat Completions differs from the others that do.
public struct OpenAIQuirks: Sendable, Hashable {
    /// What the limit of an answer's tokens is called.
    public enum TokenLimit: Sendable, Hashable {
        case maxTokens, maxCompletionTokens
        /// The newer name for OpenAI's newer models, wherever they are served, and the older one for all others.
        case byModel
    }

    /// What a request may ask for and not every server has.
    public enum Feature: String, Sendable, Hashable, CaseIterable {
        case images, files, tools, schema, seed, effort
    }

    public var tokenLimit = TokenLimit.byModel
    /// What is refused here, because the server would pass over it in silence or not understand it.
    public var lacks: Set<Feature> = []
    /// Whether models that think want `developer` in place of `system`.
    public var usesDeveloperRole = false
    /// Whether the effort is a member of `reasoning` and not `reasoning_effort`.
    public var nestsEffort = false
    /// Whether the model's thoughts are sent back to it.
    public var returnsReasoning = false
    /// Whether the server runs the calls itself, so that they are history and never to be answered.
    public var callsAreDone = false
    /// Whether only the last message of the user is read, so that it has to tell what was said before.
    public var foldsHistory = false
    /// Whether usage in a stream is asked for, and with it not given to servers that refuse the question.
    public var asksForUsage = true
    /// Whether the server may write its errors as an SSE field `error`, which `EventParser` has to be told.
    public var readsErrorField = false

    public init() {}
}
