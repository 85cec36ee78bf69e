import Capabilities
import LoopKit
import Registry

/// `martlet gateway token`: what clients have to show.
struct TokenAction {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    // It writes, as it makes the token when there is none; and no model that may only read gets to see it.
    var all: [Action] {
        [
            Action(
                "gateway.token", "Print the token that clients of the gateway need", .writes,
                .flag("new", "Make another one, with which the old one ends")
            ) { context, isNew in
                guard isNew else { return try await services.token.current(context).token.withText { $0 } }
                let token = try await services.token.renewed(context).token
                try await tell(token, context)
                return token.withText { $0 }
            }
            .details(
                "The token is made when it is first wanted and kept in the vault; in a build without one, in a file that "
                    + "only you can read. \(GatewayToken.variable) goes before both. A gateway that runs takes a new one "
                    + "at once, and refuses the old one."
            )
            .example("martlet gateway token", "For another program's settings")
        ]
    }

    /// Shows the new token to the gateway that runs, so that the old one ends now.
    private func tell(_ token: Secret, _ context: ActionContext) async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        guard let (state, _) = try Instance(services.surroundings).running(loop: loop) else { return }
        let problem: String
        do {
            if try await HealthProbe(services: services).isAccepted(token, by: state) { return }
            problem = "it does not take it"
        } catch let failure as any Failure {
            problem = failure.message
        }
        context.notice("the gateway that runs was not told of the new token (\(problem)); start it again")
    }
}
