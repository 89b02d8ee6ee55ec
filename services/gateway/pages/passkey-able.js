// Of the first page: it lies in the page. It says what the browser can do once the sign-in is complete. Without it no passkey
// is offered then.
;(async () => {
  const field = document.getElementById('new-passkey')
  const ways = globalThis.PublicKeyCredential
  if (!field || !ways?.parseCreationOptionsFromJSON || ways.prototype.toJSON === undefined) return
  // Whoever did not want one in this browser is not asked at the next sign-in. Days.
  const day = 86_400_000
  const rest = { conditional: 30 * day, button: 180 * day }
  const age = Date.now() - Number(localStorage.getItem('roster-passkey-offered'))
  const can = await ways.getClientCapabilities?.()
  const isHere = can?.conditionalCreate || (await ways.isUserVerifyingPlatformAuthenticatorAvailable?.())
  const way = can?.conditionalCreate ? 'conditional' : 'button'
  if (isHere && age > rest[way]) field.value = way
})().catch(() => {})
