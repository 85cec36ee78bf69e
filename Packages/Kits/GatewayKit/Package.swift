// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "GatewayKit",
    products: [
        .library(name: "GatewayKit", targets: ["GatewayKit"]),
        .library(name: "GatewayTesting", targets: ["GatewayTesting"]),
    ],
    dependencies: [.package(path: "../../Core"), .package(path: "../HTTPKit"), .package(path: "../ModelKit")],
    targets: [
        .target(
            name: "GatewayKit",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "ModelKit", package: "ModelKit"),
            ]),
        .target(
            name: "GatewayTesting",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPTesting", package: "HTTPKit"),
            ]),
        .testTarget(
            name: "GatewayKitTests",
            dependencies: [
                "GatewayKit", "GatewayTesting", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPTesting", package: "HTTPKit"), .product(name: "ModelKit", package: "ModelKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
