import Registry

#if Audit
    import Audit
#endif
#if Auth
    import Auth
#endif
#if Chat
    import Chat
#endif
#if Gateway
    import Gateway
#endif
#if MCP
    import MCP
#endif
#if OfflineModel
    import OfflineModel
#endif
#if Runner
    import Runner
#endif
#if SSH
    import SSH
#endif
#if Serve
    import ServeFrontend
#endif
#if Shell
    import ShellFrontend
#endif
#if Trace
    import Trace
#endif

/// The features of this program. A trait includes each of them in a build. `make feature NAME=Weather` adds one.
enum BuiltInFeatures {
    static var all: [BuiltInFeature] {
        [
            // Sorted; `make feature NAME=Weather` adds an entry.
            BuiltInFeature(trait: "Audit", provides: "AuditLog", "DataStore") {
                #if Audit
                    AuditFeature.self
                #endif
            }.described("A log of what was done, which cannot be changed unnoticed"),
            BuiltInFeature(
                trait: "Auth", provides: "SecretStore", "TrustStore", "Authenticator", "DataStore", "ServerList",
                "ResourceSignIn"
            ) {
                #if Auth
                    AuthFeature.self
                #endif
            }.described("Servers, sign-in, secrets and certificates"),
            BuiltInFeature(
                trait: "Chat", provides: "DataStore", "ModelProvider", "ConversationStore", "ServerList", "RuleKeeper"
            ) {
                #if Chat
                    ChatFeature.self
                #endif
            }.described("Talk to models, with tools and a history", commands: "chat", "ask"),
            BuiltInFeature(
                trait: "Gateway", provides: "DataStore", "ModelProvider", "ServerList", "GrantHolders", "RuleKeeper",
                "AgentServer", "ProjectCatalog"
            ) {
                #if Gateway
                    GatewayFeature.self
                #endif
            }.described("Serve models, tools and sessions to other programs"),
            BuiltInFeature(trait: "MCP", provides: "ToolCatalog", "DataStore", "AgentToolDefaults") {
                #if MCP
                    MCPFeature.self
                #endif
            }.described("Tools of MCP servers, for models and by hand"),
            BuiltInFeature(trait: "OfflineModel", provides: "BuiltInModel") {
                #if OfflineModel
                    OfflineModelFeature.self
                #endif
            }.described("A planner that answers without a network or an account"),
            BuiltInFeature(trait: "Runner", provides: "DataStore", "CompanionFiles", "GrantHolders") {
                #if Runner
                    RunnerFeature.self
                #endif
            }.described("Run bundles of actions unattended", commands: "run", "runs", "file", "shell", "http"),
            BuiltInFeature(trait: "SSH") {
                #if SSH
                    SSHFeature.self
                #endif
            }.described("Run commands on other machines, by SSH"),
            BuiltInFeature(trait: "Serve") {
                #if Serve
                    ServeFeature.self
                #endif
            }.described("Offer actions, conversations and screens to MCP hosts", commands: "mcp.serve"),
            BuiltInFeature(trait: "Shell") {
                #if Shell
                    ShellFeature.self
                #endif
            }.described("Screens and actions of the features on a full terminal"),
            BuiltInFeature(trait: "Trace", provides: "SpanSink", "DataStore", "MetricPublisher") {
                #if Trace
                    TraceFeature.self
                #endif
            }.described("What commands, models and tools did, and how long that took"),
        ]
    }
}
