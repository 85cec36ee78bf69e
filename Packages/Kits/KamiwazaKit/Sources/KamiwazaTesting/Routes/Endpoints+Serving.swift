import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    var serving: [Route] {
        [
            api(.get, "/serving/deployments", "listDeployments", "List deployments") { request in
                let platform = board.platform
                _ = try platform.accountName(request.headers)
                return .json(JSON.array(setup.deployments))
            }
        ]
    }
}
