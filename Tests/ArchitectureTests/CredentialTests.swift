import Testing
import WorkspaceSupport

/// An `Authenticator` adds credentials with `RequestHead.authorize`, which asks `CredentialDestination`. The other places
/// write the header themselves. Each entry says which server gets it.
@Test("Credentials are added to requests by the shared rule, and in few other places")
func credentialsAreAddedInKnownPlaces() throws {
    let workspace = Workspace.current
    let found = try workspace.files(in: "Packages", ending: ".swift").filter { file in
        file.contains("/Sources/")
    }.filter { file in
        try workspace.text(file).contains(
            /(?i)"((proxy-)?authorization|x-(goog-)?api-key)"\] = |\("((proxy-)?authorization|x-(goog-)?api-key)",/)
    }
    #expect(
        found.sorted() == [
            // The token that a person gives for a new session is tried at the server of the profile.
            "Packages/Features/Auth/Sources/Auth/SignIn/SignInFlow.swift",
            // The secret of a client that the person has registered by hand, for the sign-in server that it was made at.
            "Packages/Features/Auth/Sources/AuthSignIn/ClientCredential.swift",
            // The session of a resource, such as an MCP server, for the origin of that resource.
            "Packages/Features/Auth/Sources/AuthSignIn/Resources/ResourceSessions.swift",
            // The gateway's own token, for the gateway of this machine.
            "Packages/Features/Gateway/Sources/Gateway/Instance/HealthProbe.swift",
            // The name of the variable that Codex has for a server, as a text of that server's entry.
            "Packages/Features/MCP/Sources/MCPServers/Configuration/CodexEntry.swift",
            // A token that a step of a bundle gives, for the address that the same step gives.
            "Packages/Features/Runner/Sources/Runner/Actions/HTTPActions.swift",
            // The rule.
            "Packages/Kits/HTTPKit/Sources/HTTPClient/KeyRules.swift",
            // A session that just began or is ended, at its platform.
            "Packages/Kits/KamiwazaKit/Sources/KamiwazaKit/KamiwazaAPI.swift",
        ])
}
