// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "MCPKit",
    products: [
        .library(name: "MCPKit", targets: ["MCPKit"]), .library(name: "MCPTesting", targets: ["MCPTesting"]),
        // For tests of the root, which start it. Nothing installs it.
        .executable(name: "mcp-test-server", targets: ["mcp-test-server"]),
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../HTTPKit"), .package(path: "../LoopKit"),
        .package(path: "../ProcessKit"), .package(path: "../RPCKit"), .package(path: "../SchemaKit"),
    ],
    targets: [
        .target(
            name: "MCPKit",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPServer", package: "HTTPKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"), .product(name: "RPCKit", package: "RPCKit"),
                .product(name: "SchemaKit", package: "SchemaKit"),
            ]),
        .target(
            name: "MCPTesting",
            dependencies: [
                "MCPKit", .product(name: "Core", package: "Core"), .product(name: "HTTPServer", package: "HTTPKit"),
            ]),
        // A server for clients that start programs.
        .executableTarget(
            name: "mcp-test-server",
            dependencies: [
                "MCPKit", "MCPTesting", .product(name: "HTTPServer", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"),
            ]),
        .testTarget(
            name: "MCPKitTests",
            dependencies: [
                "MCPKit", "MCPTesting", "mcp-test-server", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPServer", package: "HTTPKit"), .product(name: "HTTPTesting", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "RPCKit", package: "RPCKit"),
            ], exclude: ["Servers"]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
