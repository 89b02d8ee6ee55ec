// Of a page that takes a passkey in place of a new password: it lies in the page. Without it the password remains.
;(() => {
  const button = document.getElementById('passkey-button')
  const isAble =
    globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON && PublicKeyCredential.prototype.toJSON !== undefined
  if (!button || !isAble) return

  // A challenge is good for five minutes.
  const goodFor = 240_000
  const { form, dataset } = button
  let options = JSON.parse(dataset.options)
  let madeAt = Date.now()

  button.hidden = false
  button.addEventListener('click', async () => {
    // All but the password is needed still.
    for (const field of form.elements) if (field.id !== 'password' && !field.reportValidity()) return
    button.setAttribute('aria-disabled', 'true')
    try {
      if (Date.now() - madeAt > goodFor) await renew()
      const { given_name: given, family_name: family } = form.elements
      if (given && family) options.user.displayName = `${given.value} ${family.value}`.trim()
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
      const credential = await navigator.credentials.create({ publicKey })
      form.elements.credential.value = JSON.stringify(credential)
      form.noValidate = true
      form.requestSubmit()
    } catch (error) {
      say(error)
    }
    button.removeAttribute('aria-disabled')
  })

  async function renew() {
    const answer = await fetch(dataset.renewal, { credentials: 'same-origin', redirect: 'error' })
    const renewed = answer.ok ? await answer.json() : null
    // The page knows what has changed.
    if (!renewed?.user) return location.reload()
    options = renewed
    madeAt = Date.now()
  }

  function say(error) {
    const known = {
      InvalidStateError: 'exists',
      NotAllowedError: 'stopped',
      AbortError: 'stopped',
      SecurityError: 'misplaced',
    }
    const status = document.getElementById('passkey-status')
    status.textContent = dataset[known[error.name]] ?? dataset.failed
  }
})()
