// Of the page of an account with its passkeys: it lies in the page. Without it none is added.
;(() => {
  const list = document.getElementById('passkeys')
  const signals = globalThis.PublicKeyCredential ?? {}
  // What is not in the list is offered no more.
  if (list?.dataset.userHandle && signals.signalAllAcceptedCredentials) {
    const { rpId, userHandle: userId, accepted, userName: name, displayName } = list.dataset
    signals
      .signalAllAcceptedCredentials({ rpId, userId, allAcceptedCredentialIds: JSON.parse(accepted) })
      .catch(() => {})
    signals.signalCurrentUserDetails?.({ rpId, userId, name, displayName }).catch(() => {})
  }

  const form = document.getElementById('passkey-form')
  if (!form) return
  const isAble = signals.parseCreationOptionsFromJSON && signals.prototype.toJSON !== undefined
  const shown = document.getElementById(isAble ? 'passkey-able' : 'passkey-unable')
  shown.hidden = false
  if (!isAble) return

  const { dataset } = form
  const madeAt = Date.now()
  const button = document.getElementById('passkey-button')
  form.addEventListener('submit', (event) => {
    if (form.elements.credential.value !== '') return
    event.preventDefault()
    void make()
  })

  async function make() {
    // A challenge is good for five minutes.
    if (Date.now() - madeAt > 240_000) return location.reload()
    button.setAttribute('aria-disabled', 'true')
    try {
      const publicKey = signals.parseCreationOptionsFromJSON(JSON.parse(dataset.options))
      const credential = await navigator.credentials.create({ publicKey })
      form.elements.credential.value = JSON.stringify(credential)
      form.requestSubmit(button)
    } catch (error) {
      const known = {
        InvalidStateError: 'exists',
        NotAllowedError: 'stopped',
        AbortError: 'stopped',
        SecurityError: 'misplaced',
      }
      const status = document.getElementById('passkey-status')
      status.textContent = dataset[known[error.name]] ?? dataset.failed
    }
    button.removeAttribute('aria-disabled')
  }
})()
