"""One life of instances by boto3, by its client or by its resources. Prints what it saw as one JSON object.

Arguments: which life, and the connection as JSON. Runs on the boto3 of Debian stable (1.26).
"""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

# boto3's own is 15 s between two looks.
QUICK = {"Delay": 0.2, "MaxAttempts": 100}
TAGS = [{"ResourceType": "instance", "Tags": [{"Key": "of", "Value": "boto3"}]}]


def states(changes):
    return [[c["PreviousState"]["Name"], c["CurrentState"]["Name"]] for c in changes]


def by_client(session, connection, image):
    ec2 = session.client("ec2", **connection)
    wait = lambda name, ids: ec2.get_waiter(name).wait(InstanceIds=ids, WaiterConfig=QUICK)
    seen = {}
    run = ec2.run_instances(
        ImageId=image, InstanceType="t3.micro", MinCount=2, MaxCount=2, TagSpecifications=TAGS
    )
    ids = seen["launched"] = [i["InstanceId"] for i in run["Instances"]]
    seen["indexes"] = [i["AmiLaunchIndex"] for i in run["Instances"]]
    wait("instance_exists", ids)
    wait("instance_running", ids)
    pages = ec2.get_paginator("describe_instances").paginate(
        Filters=[{"Name": "tag:of", "Values": ["boto?"]}], PaginationConfig={"PageSize": 5}
    )
    seen["found"] = [i["InstanceId"] for page in pages for r in page["Reservations"] for i in r["Instances"]]
    seen["stop"] = states(ec2.stop_instances(InstanceIds=ids)["StoppingInstances"])
    wait("instance_stopped", ids)
    seen["start"] = states(ec2.start_instances(InstanceIds=ids)["StartingInstances"])
    wait("instance_running", ids)
    seen["reboot"] = ec2.reboot_instances(InstanceIds=ids)["ResponseMetadata"]["HTTPStatusCode"]
    seen["terminate"] = states(ec2.terminate_instances(InstanceIds=ids)["TerminatingInstances"])
    wait("instance_terminated", ids)
    seen["types"] = [
        t["InstanceType"]
        for page in ec2.get_paginator("describe_instance_types").paginate(PaginationConfig={"PageSize": 5})
        for t in page["InstanceTypes"]
    ]
    seen["regions"] = [r["RegionName"] for r in ec2.describe_regions()["Regions"]]
    seen["zones"] = [z["ZoneName"] for z in ec2.describe_availability_zones()["AvailabilityZones"]]
    return seen


def by_resource(session, connection, image):
    ec2 = session.resource("ec2", **connection)
    seen = {}
    created = ec2.create_instances(
        ImageId=image, InstanceType="t3.micro", MinCount=1, MaxCount=2, TagSpecifications=TAGS
    )
    seen["launched"] = [i.id for i in created]
    one = created[0]
    seen["created"] = one.state["Name"]
    one.wait_until_exists(WaiterConfig=QUICK)
    one.wait_until_running(WaiterConfig=QUICK)
    one.reload()
    seen["reloaded"] = [one.state["Name"], one.instance_type, one.image_id, one.ami_launch_index, one.tags]
    running = ec2.instances.filter(Filters=[{"Name": "instance-state-name", "Values": ["running"]}])
    seen["running"] = sorted(i.id for i in running)
    one.stop()
    one.wait_until_stopped(WaiterConfig=QUICK)
    one.reload()
    seen["stopped"] = [one.state["Name"], one.state_reason["Code"]]
    one.start()
    one.wait_until_running(WaiterConfig=QUICK)
    one.reboot()
    one.terminate()
    one.wait_until_terminated(WaiterConfig=QUICK)
    ec2.instances.filter(InstanceIds=seen["launched"]).terminate()
    created[1].wait_until_terminated(WaiterConfig=QUICK)
    created[1].reload()
    seen["terminated"] = created[1].state["Name"]
    return seen


def refused(session, connection, image):
    ec2 = session.client("ec2", **connection)

    def refusal(call, **params):
        try:
            call(**params)
        except ClientError as error:
            response = error.response
            return [response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]]
        return None

    launch = dict(ImageId=image, InstanceType="t3.micro", MinCount=1, MaxCount=1)
    unknown = ["i-00000000000000001"]
    return {
        "full": refusal(ec2.run_instances, **{**launch, "MinCount": 9, "MaxCount": 9}),
        "dry": refusal(ec2.run_instances, **launch, DryRun=True),
        "image": refusal(ec2.run_instances, **{**launch, "ImageId": "ami-0000000000000000b"}),
        "unknown": refusal(ec2.describe_instances, InstanceIds=unknown),
        "unknown to stop": refusal(ec2.stop_instances, InstanceIds=unknown),
        "malformed": refusal(ec2.start_instances, InstanceIds=["foo"]),
    }


LIVES = {"client": by_client, "resource": by_resource, "refused": refused}

life, given = sys.argv[1], json.loads(sys.argv[2])
connection = dict(
    endpoint_url=given["url"],
    region_name=given["region"],
    aws_access_key_id=given["accessKeyId"],
    aws_secret_access_key=given["secretAccessKey"],
    config=Config(retries={"total_max_attempts": 1}),
)
print(json.dumps(LIVES[life](boto3.session.Session(), connection, given["imageId"])))
