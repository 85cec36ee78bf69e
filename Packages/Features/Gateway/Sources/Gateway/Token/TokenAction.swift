import Capabilities
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
                let found = try await isNew ? services.token.renewed(context) : services.token.current(context)
                if isNew { context.notice("a gateway that runs takes the new token once it was started again") }
                return found.token.withText { $0 }
            }
            .details(
                "The token is made when it is first wanted and kept in the vault; in a build without one, in a file that "
                    + "only you can read. \(GatewayToken.variable) goes before both."
            )
            .example("martlet gateway token", "For another program's settings")
        ]
    }
}
