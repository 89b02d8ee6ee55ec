// Of the page of a mailed code, which may lead to a passkey: it lies in the page. Without it the new password remains.
;(() => {
  const button = document.getElementById('passkey-way')
  const isAble =
    globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON && PublicKeyCredential.prototype.toJSON !== undefined
  if (!button || !isAble) return
  button.hidden = false
  button.addEventListener('click', (event) => {
    if (!document.getElementById('code').reportValidity()) event.preventDefault()
  })
})()
