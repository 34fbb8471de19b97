"""The servers we compare with: each module has `app`, made of the model in $RIVAL_MODEL in the form $RIVAL_FORM."""
