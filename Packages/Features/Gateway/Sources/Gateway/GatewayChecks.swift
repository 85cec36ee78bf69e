import Capabilities
import GatewayTurns
import Registry
import SandboxKit
import ToolKit

/// What `doctor` asks about the gateway.
enum GatewayChecks {
    static func sandbox(_ services: GatewayServices) -> HealthCheck {
        HealthCheck("gateway.sandbox", "the sandbox for commands of models") { _ in
            let options = GatewaySettings.turns(services.settings, services.surroundings).shell
            guard options.isSandboxed else {
                return .warning(
                    "off: commands of models may do whatever you can",
                    mend: "run 'martlet config unset gateway.sandbox'")
            }
            do {
                let support = try await options.sandboxSupport()
                guard support.kind == .bubblewrap else {
                    return .warning("commands of models run under \(support.words)", mend: SandboxError.mend)
                }
                return .ok(
                    "\(support.words): commands of models see the project's folder and the system's programs only")
            } catch let problem as SandboxError {
                return .warning(problem.message, mend: SandboxError.mend)
            } catch {
                return .warning(AnyFailure(error).message, mend: "try again")
            }
        }
    }
}
