// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "MCP",
    products: [.library(name: "MCP", targets: ["MCP", "MCPServers"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/GatewayKit"), .package(path: "../../Kits/HTTPKit"),
        .package(path: "../../Kits/KamiwazaKit"),
        .package(path: "../../Kits/LoopKit"), .package(path: "../../Kits/MCPKit"),
        .package(path: "../../Kits/ModelKit"),
        .package(path: "../../Kits/ProcessKit"), .package(path: "../../Kits/RPCKit"),
        .package(path: "../../Kits/SchemaKit"), .package(path: "../../Kits/StorageKit"),
        .package(path: "../../Kits/TOMLKit"),
        .package(path: "../../Frontends/Host"),
    ],
    targets: [
        .target(
            name: "MCPServers",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "MCPKit", package: "MCPKit"), .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "RPCKit", package: "RPCKit"), .product(name: "SchemaKit", package: "SchemaKit"),
                .product(name: "StorageKit", package: "StorageKit"), .product(name: "TOMLKit", package: "TOMLKit"),
            ]),
        .target(
            name: "MCP",
            dependencies: [
                "MCPServers", .product(name: "Core", package: "Core"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "KamiwazaKit", package: "KamiwazaKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "MCPKit", package: "MCPKit"),
                .product(name: "RPCKit", package: "RPCKit"), .product(name: "SchemaKit", package: "SchemaKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .testTarget(
            name: "MCPServersTests",
            dependencies: [
                "MCPServers", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "MCPKit", package: "MCPKit"), .product(name: "RPCKit", package: "RPCKit"),
            ]),
        .testTarget(
            name: "MCPTests",
            dependencies: [
                "MCP", "MCPServers", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"), .product(name: "TestTraits", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "MCPKit", package: "MCPKit"),
                .product(name: "GatewayKit", package: "GatewayKit"),
                .product(name: "HostKit", package: "Host"), .product(name: "HostTesting", package: "Host"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
                .product(name: "KamiwazaKit", package: "KamiwazaKit"),
                .product(name: "KamiwazaTesting", package: "KamiwazaKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ModelKit", package: "ModelKit"),
                .product(name: "ProcessKit", package: "ProcessKit"), .product(name: "RPCKit", package: "RPCKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
