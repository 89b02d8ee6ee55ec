"""Makes a passkey and signs in with it, by the library that the argument names. Each answer is a line of JSON."""

import json
import sys

from fido2 import features

features.webauthn_json_mapping.enabled = True

from fido2.client import Fido2Client, UserInteraction
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import PublicKeyCredentialCreationOptions, PublicKeyCredentialRequestOptions
from soft_key import SoftKey
from soft_webauthn import SoftWebauthnDevice

origin = sys.argv[2]


class Fido2:
    def __init__(self):
        # It takes no plain address, not even that of this machine.
        self.client = Fido2Client(SoftKey(), origin, verify=lambda *_: True, user_interaction=UserInteraction())

    def create(self, options):
        made = self.client.make_credential(PublicKeyCredentialCreationOptions.from_dict(options))
        return credential(made.attestation_object.auth_data.credential_data.credential_id, made)

    def get(self, options):
        asked = PublicKeyCredentialRequestOptions.from_dict(options)
        signed = self.client.get_assertion(asked).get_response(0)
        return credential(signed.credential_id, signed)


def credential(id, response):
    return {"id": websafe_encode(id), "type": "public-key", "response": dict(response)}


class SoftWebauthn:
    def __init__(self):
        self.device = SoftWebauthnDevice()

    def create(self, options):
        options["challenge"] = websafe_decode(options["challenge"])
        options["user"]["id"] = websafe_decode(options["user"]["id"])
        return as_json(self.device.create({"publicKey": options}, origin))

    def get(self, options):
        options["challenge"] = websafe_decode(options["challenge"])
        return as_json(self.device.get({"publicKey": options}, origin))


def as_json(credential):
    response = {name: websafe_encode(value) for name, value in credential["response"].items()}
    # Its own `id` is padded.
    return {"id": websafe_encode(credential["rawId"]), "type": credential["type"], "response": response}


device = {"fido2": Fido2, "soft-webauthn": SoftWebauthn}[sys.argv[1]]()
for line in sys.stdin:
    asked = json.loads(line)
    make = device.create if "user" in asked else device.get
    print(json.dumps(make(asked)), flush=True)
