public import Capabilities
import TurnLoop

/// A model without weights and without a network: a small planner that follows fixed rules and really uses tools.
///
/// It has no state. What it does next follows from the messages, the results of its earlier calls among them, and from
/// the tools that it is offered, so that `TurnLoop` and clients with tools of their own drive it like any other model.
/// The same request always gets the same answer.
public final class OfflineModel: ModelProvider {
    /// What its one model is called.
    public static let model = "martlet-offline"

    public let id: String

    /// - Parameter id: what the provider is called in settings.
    public init(id: String = "martlet") {
        self.id = id
    }

    public var name: String { "Martlet's offline planner" }

    public func isAvailable() async -> Bool { true }

    public func models() async throws -> [ModelDescription] { [description] }

    /// The one model. It costs nothing, which is known.
    public var description: ModelDescription {
        let nothing = TokenPrice(femtodollars: 0)
        return ModelDescription(
            id: Self.model, provider: id, name: "Offline planner: no weights, no network",
            price: ModelPrice(input: nothing, output: nothing), abilities: [.tools])
    }

    public func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        try check(request.model)
        try Task.checkCancellation()
        let start = ChatStart(model: Self.model)
        try await receive([.began(start)])
        // Rules cannot promise the shape of an answer, and one of another shape would be worse than none.
        guard request.schema == nil else { return try await refuse(request, start, receive) }
        let step = Planner(request).next()
        let wording = Wording(step.text, request.options)
        for piece in wording.pieces {
            try Task.checkCancellation()
            try await receive(piece)
        }
        var message = Message(.assistant, wording.text.isEmpty ? [] : [.text(wording.text)])
        var finish = wording.finish
        if !wording.isCut, !step.calls.isEmpty {
            try Task.checkCancellation()
            finish = .calls
            message.parts += step.calls.map(Message.Part.call)
            try await receive(step.calls.flatMap { [.calling(id: $0.id, name: $0.name), .call($0)] })
        }
        let usage = usage(of: request, message)
        try await receive([.usage(usage)])
        return ChatAnswer(start: start, message: message, finish: finish, usage: usage)
    }

    private func check(_ model: String) throws(GatewayModelsError) {
        guard model.isEmpty || model == Self.model || model == "\(id)/\(Self.model)" else {
            let name = PlainText.escape(String(model.prefix(100)))
            throw GatewayModelsError(
                .unknownModel, "\(id) has no model “\(name)”; its only one is \(Self.model)")
        }
    }

    private func refuse(
        _ request: ChatRequest, _ start: ChatStart, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let words =
            "\(Self.model) follows fixed rules and cannot shape its answers by a schema; ask a model with weights."
        let message = Message(.assistant, [.refusal(words)])
        let usage = usage(of: request, message)
        try await receive([.refusal(words), .usage(usage)])
        return ChatAnswer(start: start, message: message, finish: .refused, usage: usage)
    }

    private func usage(of request: ChatRequest, _ message: Message) -> Usage {
        let estimate = TokenEstimate()
        return Usage(
            inputTokens: estimate.tokens(of: request), outputTokens: estimate.tokens(of: message),
            cost: Cost(nanodollars: 0))
    }
}
