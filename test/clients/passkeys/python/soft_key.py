"""An authenticator of CTAP 2.1 in memory, which makes sure of its person, for the client of fido2."""

import os
from struct import pack

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.ctap import CtapDevice
from fido2.hid import CAPABILITY
from fido2.utils import sha256
from fido2.webauthn import AttestedCredentialData, AuthenticatorData

AAGUID = bytes(16)
MAKE, GET, INFO = 1, 2, 4
PRESENT, VERIFIED = AuthenticatorData.FLAG.UP, AuthenticatorData.FLAG.UV


class SoftKey(CtapDevice):
    def __init__(self):
        self.id = os.urandom(32)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.user = None
        self.count = 0

    @property
    def capabilities(self):
        return CAPABILITY.CBOR

    @classmethod
    def list_devices(cls):
        return iter([])

    def close(self):
        pass

    def call(self, cmd, data=b"", event=None, on_keepalive=None):
        command, asked = data[0], cbor.decode(data[1:]) if len(data) > 1 else {}
        answer = {INFO: self.info, MAKE: self.make, GET: self.get}[command](asked)
        return b"\0" + cbor.encode(answer)

    def info(self, _):
        options = {"rk": True, "up": True, "uv": True}
        # It has no PIN, but the client looks for a protocol of one.
        return {1: ["FIDO_2_0", "FIDO_2_1"], 3: AAGUID, 4: options, 6: [2]}

    def make(self, asked):
        self.user = asked[3]["id"]
        attested = AttestedCredentialData.create(AAGUID, self.id, ES256.from_cryptography_key(self.key.public_key()))
        return {1: "none", 2: self.signed(asked[2]["id"], asked.get(7, {}), attested), 3: {}}

    def get(self, asked):
        data = self.signed(asked[1], asked.get(5, {}))
        signature = self.key.sign(data + asked[2], ec.ECDSA(hashes.SHA256()))
        return {1: {"id": self.id, "type": "public-key"}, 2: data, 3: signature, 4: {"id": self.user}}

    def signed(self, rp_id, options, attested=None):
        self.count += 1
        flags = PRESENT | (VERIFIED if options.get("uv") else 0)
        flags |= AuthenticatorData.FLAG.AT if attested else 0
        return sha256(rp_id.encode()) + pack(">BI", flags, self.count) + (attested or b"")
