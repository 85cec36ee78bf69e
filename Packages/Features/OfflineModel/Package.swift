// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "OfflineModel",
    products: [.library(name: "OfflineModel", targets: ["OfflineModel"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../../Kits/ModelKit")],
    targets: [
        .target(
            name: "OfflineModel",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "OfflinePlanner", package: "ModelKit"),
            ]),
        .testTarget(
            name: "OfflineModelTests",
            dependencies: [
                "OfflineModel",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
