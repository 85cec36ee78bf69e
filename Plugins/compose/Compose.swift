import Foundation
import PackagePlugin

/// `swift package --allow-writing-to-directory DIR compose DIR --name mybench --features Weather`: writes a host of
/// chosen features outside this checkout and builds it.
@main
struct Compose: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        let request = try Request(arguments, in: context)
        for file in HostPackage(request, checkout: context.package.directoryURL.path).files {
            try file.write(below: request.folder)
        }
        let build = HostBuild(
            request, checkout: context.package.directoryURL.path, swift: try context.tool(named: "swift").url)
        print("The host \(request.name) is in \(request.folder.path). Building it: \(build.words)")
        try build.run()
        print("The program is \(build.program). Try it: \(build.program) features")
    }
}
