// Of a page that takes a passkey: it lies in the page. Without it the page has no button for one.
;(() => {
  const form = document.getElementById('passkey-form')
  const button = document.getElementById('passkey-button')
  const isAble =
    globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON && PublicKeyCredential.prototype.toJSON !== undefined
  if (!form || !button) return
  if (!isAble) {
    for (const one of document.querySelectorAll('[data-without-passkey]')) one.hidden = false
    return
  }

  // A challenge is good for five minutes.
  const goodFor = 240_000
  const { dataset } = form
  let options = JSON.parse(dataset.options)
  let madeAt = Date.now()
  let pending

  // Roster does not know this credential any more: the browser stops offering it (WebAuthn Signal API).
  if (dataset.unknown && PublicKeyCredential.signalUnknownCredential)
    PublicKeyCredential.signalUnknownCredential({ rpId: options.rpId, credentialId: dataset.unknown }).catch(() => {})

  button.hidden = false
  button.addEventListener('click', () => ask())
  if (dataset.offered) void offer()

  // The browser shows passkeys among the names that it fills in.
  async function offer() {
    const isShown = await PublicKeyCredential.isConditionalMediationAvailable?.()
    if (!isShown || pending) return
    await ask('conditional')
  }

  async function ask(mediation) {
    // A browser has one such question at a time.
    pending?.abort()
    const mine = (pending = new AbortController())
    let renewal
    try {
      if (Date.now() - madeAt > goodFor) await renew()
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
      if (mediation) renewal = setTimeout(() => pending === mine && ask(mediation), goodFor)
      const credential = await navigator.credentials.get({
        publicKey,
        signal: mine.signal,
        ...(mediation && { mediation }),
      })
      if (mine.signal.aborted) return
      send(credential)
    } catch (error) {
      if (mine.signal.aborted) return
      if (!mediation) say(error)
      pending = undefined
      // Else the names would lack their passkeys from now on.
      if (!mediation && dataset.offered) await offer()
    } finally {
      clearTimeout(renewal)
    }
  }

  async function renew() {
    const answer = await fetch(form.action, { credentials: 'same-origin', redirect: 'error' })
    const renewed = answer.ok ? await answer.json() : null
    // Somebody is signed in by now, or the request is over: its page knows.
    if (!renewed) return location.reload()
    options = renewed
    madeAt = Date.now()
  }

  function send(credential) {
    form.elements.credential.value = JSON.stringify(credential)
    const keep = document.getElementById('keep')
    if (keep?.checked) form.elements.keep.value = 'on'
    form.requestSubmit(form.elements['passkey-action'])
  }

  function say(error) {
    const known = {
      NotAllowedError: 'stopped',
      AbortError: 'stopped',
      TimeoutError: 'stopped',
      SecurityError: 'misplaced',
    }
    let status = document.getElementById('passkey-status')
    if (!status) {
      status = document.createElement('p')
      status.id = 'passkey-status'
      status.className = 'bad'
      status.setAttribute('role', 'alert')
      button.before(status)
    }
    status.textContent = dataset[known[error.name]] ?? dataset.failed
  }
})()
