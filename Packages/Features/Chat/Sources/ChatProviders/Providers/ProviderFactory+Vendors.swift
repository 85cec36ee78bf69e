import AnthropicDialect
import Capabilities
import HTTPClient
import HTTPCore
import OpenAIDialect

extension ProviderFactory {
    func vendor(_ vendor: Vendor) -> any ModelProvider {
        do {
            return ServerProvider(try plan(vendor), now: setup.now)
        } catch {
            return BrokenProvider(id: vendor.id, name: vendor.name, error: error)
        }
    }

    private func plan(_ vendor: Vendor) throws -> ServerPlan {
        let found = try EnvironmentKey(for: vendor.id, in: setup.environment, redactor: setup.redactor)
        let base = try (found.address ?? HTTPURL(vendor.base))
        // Anthropic's own library wants its address without the version, and others are written with it.
        let home = vendor.id == "anthropic" ? try base.versioned() : base
        let credential: Credential =
            if let key = found.key {
                .key(key, vendor.header, for: base)
            } else if let authenticator = setup.authenticator {
                .signer(RequestSigner(authenticator, for: ServerID(vendor.id)))
            } else {
                .none
            }
        let access = access(vendor.id, vendor.name, credential, remedy: remedy(vendor), headers: vendor.headers)
        let list = try home.below("/models" + (vendor.listQuery.isEmpty ? "" : "?\(vendor.listQuery)"))
        let isHere = found.key != nil || found.address != nil
        return ServerPlan(
            access: access,
            question: StreamedAnswer(access: access, url: try home.below(vendor.path)), dialect: vendor.dialect,
            defaultModel: vendor.defaultModel,
            embeddings: vendor.id == "anthropic" ? nil : try home.below("/embeddings"),
            isAvailable: { [setup] in
                if isHere { return true }
                return await setup.hasSecret(vendor.id)
            }, lastModel: lastModel(vendor.id), load: { try await Self.models(of: vendor, list, access) })
    }

    private static func models(
        of vendor: Vendor, _ list: HTTPURL, _ access: ServerAccess
    ) async throws -> [ModelDescription] {
        try await ModelList.load(list, from: access) { body in
            guard vendor.id == "anthropic" else {
                let models = try OpenAIDialect.models(in: body, provider: vendor.id)
                return (vendor.id == "openai" ? models.filter(\.isForChat) : models, nil)
            }
            let page = try AnthropicDialect.models(in: body, provider: vendor.id)
            return (page.models, page.next)
        }
    }

    /// What mends a key that is missing or refused.
    private func remedy(_ vendor: Vendor) -> String {
        let variable = "set \(vendor.keyVariable)"
        return setup.authenticator == nil
            ? variable : "\(variable), or keep a key with 'martlet auth secret set \(vendor.id)'"
    }
}

extension ModelDescription {
    /// OpenAI lists all its models, and most of them do not chat.
    fileprivate var isForChat: Bool {
        let others = [
            "embedding", "whisper", "tts", "dall-e", "moderation", "davinci", "babbage", "image", "sora", "realtime",
            "transcribe", "audio", "computer-use",
        ]
        return !others.contains { id.contains($0) }
    }
}
