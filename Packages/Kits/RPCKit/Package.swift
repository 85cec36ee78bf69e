// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "RPCKit",
    products: [
        .library(name: "RPCKit", targets: ["RPCKit"]), .library(name: "RPCWebSocket", targets: ["RPCWebSocket"]),
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../HTTPKit"), .package(path: "../LoopKit"),
        .package(path: "../ProcessKit"),
    ],
    targets: [
        .target(
            name: "RPCKit",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        // Apart, so that nobody who talks over other streams needs HTTPKit.
        .target(
            name: "RPCWebSocket",
            dependencies: [
                "RPCKit", .product(name: "Core", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit"),
            ]),
        .testTarget(
            name: "RPCWebSocketTests",
            dependencies: [
                "RPCKit", "RPCWebSocket", .product(name: "Core", package: "Core"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPTesting", package: "HTTPKit"),
            ]),
        .testTarget(
            name: "RPCKitTests",
            dependencies: [
                "RPCKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
