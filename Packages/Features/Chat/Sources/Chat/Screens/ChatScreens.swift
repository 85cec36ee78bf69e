import Registry
import Screens

/// The screens of Chat.
struct ChatScreens {
    private let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    func add(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "chat.conversations", "Conversations", .tab("Sessions"), listing: "chat.list", id: "id",
            links: [
                .action("chat.rename", "Rename", key: "r", ["conversation": .row("id")]),
                .action("chat.fork", "Fork", key: "f", ["conversation": .row("id")]),
                .action("chat.export", "Export", key: "e", ["conversation": .row("id")]),
                .action("chat.delete", "Delete", key: "d", ["conversation": .row("id")]),
            ], detail: .screen("chat.conversation", "Conversation", ["conversation": .row("id")]),
            offering: [.screen("chat.new", "New conversation", key: "n")])
        AnswererScreen(services).add(to: &registry)
        ConversationScreen(services).addNew(to: &registry)
        ConversationScreen(services).add(to: &registry)
        registry.addScreen(
            "chat.found", "Search", .detail, listing: "chat.search", id: "message",
            detail: .screen("chat.conversation", "Conversation", ["conversation": .row("conversation")]))
        ToolCallScreens(services).add(to: &registry)
        registry.addScreen(
            "chat.catalogue", "Models", .tab("Models"), listing: "chat.models", id: "provider", "id")
        registry.addScreen(
            "chat.rules", "Approvals", .tab("Models"), listing: "chat.approvals", id: "id",
            links: [.action("chat.disallow", "Remove", key: "d", ["rule": .row("id")])])
        UsageScreen(services).add(to: &registry)
    }
}
